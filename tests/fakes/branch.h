/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake lm or sm below the daemon under test. It answers each action with the tokens of the
 * request and acknowledges each ARM, unless the test says otherwise.
 */
#ifndef TESTS_FAKES_BRANCH_H
#define TESTS_FAKES_BRANCH_H

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/link/link.h"
#include "common/net/mem.h"
#include "common/omis/text/token.h"

#define BRANCH_TEXT 1024

struct fake_branch {
	/* --- set by fake_branch_init() */
	struct mem_net *net; /* borrowed */
	struct loop *loop;
	struct rng rng; /* the same numbers in each run, by host */
	struct identity id;
	char host[32];
	const char *to; /* host of the daemon above; borrowed */
	const uint16_t *port; /* of it; borrowed */
	struct net_ctx *ctx;
	struct link *link; /* NULL: it does not run */

	/* --- what it does */
	bool is_mute, no_ack;
	bool no_part; /* no answer to DISARM */
	uint64_t lost; /* reported losses */
	const char *value; /* of each entry; NULL: "1" */
	nsec_t wall; /* the time of its replies; 0: none */
	const char *ended; /* a process that its replies report as ended */
	const char *refused, *refusal; /* objects that it cannot watch, and why; NULL: none */
	const char *take; /* the answer to omig_proc_take; NULL: there is no such process */
	bool denies_cells; /* counters are unknown to it */
	size_t pad; /* more entries than requested, each with a large value: to make parts */
	void (*on_up)(struct fake_branch *b, const struct msg_hello_ack *ack); /* NULL: nothing */
	/* The handler of STOP, and of all messages that are not counted below. NULL: ignored. */
	void (*on_other)(struct fake_branch *b, const struct msg *m);
	void *of; /* the owner's */

	/* --- what it received */
	bool is_up;
	uint32_t node; /* its number */
	char redirect[64];
	char why[ERR_TEXT_BYTES]; /* of the last failure */
	unsigned ups, downs, retries;
	unsigned requests, cancels, arms, disarms, releases, gones, let_gos, stops, revoked;
	/* of the last request */
	char text[BRANCH_TEXT], identity[64], of_csr[TOKEN_BYTES];
	uint64_t last_id, op_epoch, op;
	uint32_t right, depth;
	nsec_t deadline;
	uint32_t tool; /* of the last request or ARM */
	/* of the last ARM, DISARM, TOOL_GONE and RELEASE */
	char armed[BRANCH_TEXT], csr[TOKEN_BYTES], disarmed[TOKEN_BYTES];
	uint32_t version, prefix, gone_tool;
	bool wants_reply;
	uint64_t released;
};

/* It is in the network of memory when it is opened or dials. */
void fake_branch_init(struct fake_branch *b, struct loop *loop, struct mem_net *net,
		      const struct identity *id);
/* No effect if it is open. */
void fake_branch_open(struct fake_branch *b);
/* Dials with its certificate, again and again until it is closed. */
void fake_branch_dial(struct fake_branch *b, const struct msg_hello *hello);
/* Ends the link with BYE. */
void fake_branch_close(struct fake_branch *b);
/* Releases the rest, after some time in which the link ends. */
void fake_branch_done(struct fake_branch *b);

/* Handlers, for a branch with a link of another kind. */
void fake_branch_on_up(struct fake_branch *b, const struct msg_hello_ack *ack);
void fake_branch_on_down(struct fake_branch *b, const struct err *why);
void fake_branch_on_retry(struct fake_branch *b, const struct err *why);
void fake_branch_on_msg(struct fake_branch *b, const struct msg *m);

void fake_branch_send(struct fake_branch *b, const struct msg *m);
/* A reply of one entry to the request of that id. */
void fake_branch_reply(struct fake_branch *b, uint64_t id, uint32_t action, const char *objects,
		       const char *value);
/* Objects of a node; full: a snapshot. */
void fake_branch_report(struct fake_branch *b, uint32_t node, bool full, const struct msg_object *o,
			size_t n);

#endif
