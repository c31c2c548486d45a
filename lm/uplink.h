/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way up: mainsm is asked which sm serves this site, then that sm is the
 * parent. When the sm is lost for a while, mainsm is asked again. A mainsm that names
 * no sm is the parent itself.
 */
#ifndef LM_UPLINK_H
#define LM_UPLINK_H

#include "common/base/rng.h"
#include "common/daemon/connstr.h"
#include "common/daemon/link.h"

#define UPLINK_SITE_RETRIES_MAX \
	3 /* attempts to reach an sm before mainsm is asked again: about a second */
#define UPLINK_ASK_DEFAULT_NS (500 * NSEC_PER_MSEC) /* mainsm said "wait" and not how long */
#define UPLINK_ASK_MAX_NS (10 * NSEC_PER_SEC)

struct net_ctx;
struct uplink;

struct uplink_conf {
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase;
	struct net_ctx *ctx; /* with our certificate; all borrowed */
	const struct connstr *conn; /* copied */
	const char *host; /* as our certificate says; copied */
	uint64_t epoch;
	uint32_t node; /* that we had before; 0 = none */
	/* The parent is there. The node's number is known from now on. is_other: it is a mainsm that was started anew. */
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
struct uplink *uplink_new(const struct uplink_conf *c);
void uplink_free(struct uplink *u);

/* Says BYE to all and dials no more; a short time later the frames that wait are out. */
void uplink_close(struct uplink *u, const char *reason);

/* As link_send(), to the parent. */
int uplink_send(struct uplink *u, const struct msg *m);
int uplink_send_frames(struct uplink *u, const uint8_t *p, size_t n);
struct net_ctx *uplink_ctx(const struct uplink *u);
bool uplink_is_up(const struct uplink *u);

/* Sends *m to mainsm as soon as it can be reached, beside the parent; the answer comes by on_msg. Copied. -ERR_NOMEM. */
int uplink_ask_top(struct uplink *u, const struct msg *m);

/* The parent, or who is being dialled; for the status. False: nobody. */
bool uplink_stats(const struct uplink *u, struct link_stats *out);
const char *uplink_parent(const struct uplink *u); /* "sm", "mainsm", "none" */

#endif
