/* SPDX-License-Identifier: Apache-2.0 */
/* The way to mainsm, straight or by another sm: who it is, whether it is the same as before, and
 * what waits to go up. */
#ifndef SM_NODE_PARENT_H
#define SM_NODE_PARENT_H

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/daemon/ascent.h"
#include "common/daemon/link.h"

#include <stdbool.h>
#include <stdint.h>

struct uplink;

struct uplink_handler {
	/* is_other: not the mainsm that was there before, or the first. */
	void (*on_up)(void *arg, bool is_other);
	void (*on_msg)(void *arg, const struct msg *m);
	void (*on_down)(void *arg, const struct err *why);
	void (*on_retry)(void *arg, const struct err *why);
	void *arg;
};

/* Borrowed pointers, copied strings. */
struct uplink_conf {
	bool is_stacked; /* its parent is an sm: that of the site, or the stated one; else mainsm */
	struct net_ctx *ctx; /* of a stacked one, with who mainsm is; borrowed, copied */
	const struct connstr *conn;
	const char *stated; /* "" = mainsm tells */
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase;
	struct link_dialer dialer;
	uint64_t epoch;
	const char *site, *host, *software;
	const char *listen; /* where lms find us */
	struct meter *meter; /* as link_conf.meter */
	struct uplink_handler handler;
};

/* Dials. ERR_NOMEM, ERR_LIMIT (listen). */
int uplink_open(const struct uplink_conf *conf, struct uplink **out, struct err *e);

/* Says BYE. NULL is fine. */
void uplink_close(struct uplink *u, const char *reason);

bool uplink_is_up(const struct uplink *u);

/* It has been up at least once. */
bool uplink_was_up(const struct uplink *u);

/* Daemons above us: 1 = mainsm alone. 0 = not known yet. */
uint32_t uplink_level(const struct uplink *u);

/* Parents for those below us to try when we are lost; "" = mainsm. */
const char *uplink_ways(const struct uplink *u);

/* For mainsm itself, beside the parent when that is another one: as link_send(). */
int uplink_ask_top(struct uplink *u, const struct msg *m);

/* As mainsm counts the site; 0 = not told yet. */
uint32_t uplink_site_number(const struct uplink *u);

/* As link_send(). */
int uplink_send(struct uplink *u, const struct msg *m);
int uplink_send_frames(struct uplink *u, const uint8_t *p, size_t n);

/* Half of the queue is full: what can wait should, what may be dropped is. True when it is down. */
bool uplink_is_congested(const struct uplink *u);

nsec_t uplink_rtt(const struct uplink *u); /* 0 = none measured */
size_t uplink_queued(const struct uplink *u);
void uplink_stats(const struct uplink *u, struct link_stats *out);

/* Below another sm: the one that is there is another process than the one before. */
bool uplink_has_lost_parent(const struct uplink *u);

#endif
