/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of an lm or a stacked sm for its parent: mainsm is asked which sm serves this site,
 * and that sm may send us on to one below it. The sm that takes us is the parent, and names others
 * to try when it is lost. Then those are tried, the nearest first. mainsm is asked when none of
 * them answers. A mainsm that names no sm is the parent itself of an lm.
 *
 * An address that was named is not trusted: the daemon there must show a certificate of our
 * mainsm's authority for an sm of our site.
 */
#ifndef COMMON_MEMBER_PARENT_H
#define COMMON_MEMBER_PARENT_H

#include "common/base/rng.h"
#include "common/link/connstr.h"
#include "common/link/link.h"

/* attempts to reach an sm before mainsm is asked again: about a second */
#define PARENT_SITE_RETRIES_MAX 3
/* parents to try that are remembered: ancestors, and a tree is flat */
#define PARENT_WAYS_MAX 4
#define PARENT_HOPS_MAX 8 /* sms that send us on, one to the next: then they go in a circle */
#define PARENT_ADDRESS_BYTES 1025 /* of one daemon: host:port by commas */
/*
 * Added to attach for each new search: 4 ms of the clock that an epoch is of, and no two searches
 * are as close in the mean. sms above count what they do in the rest: one whose own hosts move with
 * it adds PARENT_SM_MOVE, one whose sms' hosts do, 1. So a later move of a daemon nearer to the
 * host always has the higher number. How often those above it have moved does not matter.
 */
#define PARENT_MOVE (1 << 22)
#define PARENT_SM_MOVE (1 << 11)
#define PARENT_ASK_DEFAULT_NS (500 * NSEC_PER_MSEC) /* mainsm said "wait" and not how long */
#define PARENT_ASK_MAX_NS (10 * NSEC_PER_SEC)

struct net_ctx;
struct parent;

struct parent_conf {
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase;
	struct net_ctx *ctx; /* with our certificate; all borrowed */
	const struct connstr *conn; /* copied */
	const char *host; /* as our certificate says; copied */
	uint64_t epoch;
	uint32_t node; /* that we had before; 0 = none */
	bool is_sm; /* else an lm */
	const char *listen; /* of an sm: where it is found; copied; NULL = "" */
	const char *stated; /* of an sm: the parent to try first; copied; NULL = ask mainsm */
	const char *software; /* for HELLO; copied */
	/* The parent is there. The node's number is known from now on. is_other: it is a mainsm
	 * that was started again. */
	void (*on_up)(void *arg, uint32_t node, bool is_other);
	void (*on_down)(void *arg, const struct err *why);
	void (*on_msg)(void *arg, const struct msg *m);
	/* The parent's queue has room again. */
	void (*on_writable)(void *arg);
	/* An attempt failed: for the log. */
	void (*on_trouble)(void *arg, const struct err *why, nsec_t retry_in);
	void *arg;
};

/* Dials from the loop. NULL: no memory. */
struct parent *parent_new(const struct parent_conf *c);
void parent_free(struct parent *u);

/* Says BYE to all and dials no more; a short time later the frames that wait are out. */
void parent_close(struct parent *u, const char *reason);

/* As link_send(), to the parent. */
int parent_send(struct parent *u, const struct msg *m);
int parent_send_frames(struct parent *u, const uint8_t *p, size_t n);
struct net_ctx *parent_ctx(const struct parent *u);

/* Sends *m to mainsm as soon as it can be reached, beside the parent; the answer comes by on_msg.
 * Copied. -ERR_NOMEM. */
int parent_ask_mainsm(struct parent *u, const struct msg *m);

/* The link to the parent; NULL: there is none now. */
struct link *parent_current_link(const struct parent *u);

/* What the last parent has said: the number of our site, and how many daemons are above us. */
uint32_t parent_site_number(const struct parent *u);
uint32_t parent_level(const struct parent *u);

/* For those below us to try when we are lost: our parent, and what it has named. "": mainsm
 * alone. */
const char *parent_ways(const struct parent *u);

/* The parent, or the daemon that is being dialled; for the status. False: none. */
bool parent_stats(const struct parent *u, struct link_stats *out);
const char *parent_kind(const struct parent *u); /* "sm", "mainsm", "none" */

/* The parent that is there is another process than the one before: what that one knew may be
 * lost. */
bool parent_is_another(const struct parent *u);

#endif
