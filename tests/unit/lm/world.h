/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lm between a fake host below and two daemons above, in a network of memory and virtual time.
 */
#ifndef TESTS_UNIT_LM_WORLD_H
#define TESTS_UNIT_LM_WORLD_H

#include "common/base/str.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/mem.h"
#include "common/net/net.h"
#include "lm/lm_internal.h"
#include "proto/msg.h"
#include "tests/fakes/identity.h"
#include "tests/fakes/messages.h"
#include "tests/fakes/upper.h"
#include "tests/unit/lm/fake_host.h"
#include "tests/unit/lm/fake_segment.h"

#include <check.h>

#define MS NSEC_PER_MSEC
#define SEC NSEC_PER_SEC
#define WORLD_NODE 7
#define MANIPULATOR "omig:tool-manipulate//me@here"
#define OBSERVER "omig:tool-observe//me@here"

/* A daemon above: its received messages, copied. */
struct above {
	struct upper up; /* up.link: of the lm */
	struct timebase time;
	const char *redirect; /* redirection in the answer to HELLO */
	const char *parents; /* the same; NULL: none */
	unsigned hellos;
	struct messages got;
	const char *refuse;
};

struct world {
	struct loop *loop;
	struct mem_net *net;
	struct rng rng;
	struct timebase time;
	struct fake_host host;
	struct net_ctx *ctx; /* of the lm */
	struct lm *lm;
	struct above mainsm, sm;
	uint16_t port, sm_port;
	char sm_addr[64];
	const char *journal; /* NULL: none */
	const char *audit; /* NULL: none */
	const char *done; /* NULL: none */
	const char *baselines; /* NULL: none */
	const char *spool; /* NULL: none */
	const char *tracer; /* NULL: none */
	const char *socket;
	bool may_manipulate;
	nsec_t linger;
	char end_reason[80];
	uint64_t next_id;
	struct msg_request as; /* op_epoch, op and flags of the requests of world_ask() */
};

/* mainsm answers "" (it is the parent itself) unless the test sets mainsm.redirect. */
void world_open(struct world *w);
void world_close(struct world *w);

/* Ends the lm alone without messages, as in a crash, and starts it again. */
void world_crash_lm(struct world *w);
void world_start_lm(struct world *w);

/* Time passes; all that is due happens. */
void world_run(struct world *w, nsec_t by);

/* A daemon above disconnects or returns. */
void above_listen(struct world *w, struct above *a, enum role role, const char *host,
		  uint16_t *port);
void above_close(struct above *a);

void above_send(struct above *a, const struct msg *m);

/* Returns the messages of that type since the last call; NULL when there is none. */
const struct msg *above_next(struct above *a, uint8_t type);
void above_skip_all(struct above *a);

/* Asks and waits (virtually): the reply to a request. */
const struct msg_reply *world_ask(struct world *w, const char *identity, const char *text);

/* The same for a tool with a number. */
const struct msg_reply *world_ask_as(struct world *w, uint32_t tool, const char *identity,
				     const char *text);

/* The entry for the object, or for action when object is NULL. NULL: none. Value as text. */
const struct msg_entry *reply_entry_of(const struct msg_reply *r, const char *object);
const char *entry_text(const struct msg_entry *e);

/* Makes a process with a segment and has it registered. token: TOKEN_BYTES, may be NULL. */
void world_add_rank(struct world *w, struct fake_segment *s, int32_t pid, int32_t rank,
		    char *token);
void world_add_rank_with(struct world *w, struct fake_segment *s, const struct fake_rank *r,
			 char *token);

/* The token of a live or dead process by its pid, from the directory; "" without one. */
const char *world_token(struct world *w, int32_t pid);

/* Arms and returns the ARM_ACK. */
const struct msg_arm_ack *world_arm(struct world *w, const char *csr, const char *text,
				    uint32_t prefix, bool reply);

#endif
