/* SPDX-License-Identifier: Apache-2.0 */
/* The link to mainsm, straight or by another sm: its identity, whether it is the same as before,
 * and the queue of messages. */
#ifndef SM_NODE_PARENT_LINK_H
#define SM_NODE_PARENT_LINK_H

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/link/link.h"
#include "common/member/parent.h"

#include <stdbool.h>
#include <stdint.h>

struct parent_link;

struct parent_link_handler {
	/* is_other: not the mainsm that was there before, or the first. */
	void (*on_up)(void *arg, bool is_other);
	void (*on_msg)(void *arg, const struct msg *m);
	void (*on_down)(void *arg, const struct err *why);
	void (*on_retry)(void *arg, const struct err *why);
	void *arg;
};

/* Borrowed pointers, copied strings. */
struct parent_link_conf {
	bool is_stacked; /* its parent is an sm: that of the site, or the stated one; else mainsm */
	struct net_ctx *ctx; /* of a stacked one, with the identity of mainsm; borrowed, copied */
	const struct connstr *conn;
	const char *stated; /* "" = from mainsm */
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase;
	struct link_dialer dialer;
	uint64_t epoch;
	const char *site, *host, *software;
	const char *listen; /* where lms find us */
	struct meter *meter; /* as link_conf.meter */
	struct parent_link_handler handler;
};

/* Dials. ERR_NOMEM, ERR_LIMIT (listen). */
int parent_link_open(const struct parent_link_conf *conf, struct parent_link **out, struct err *e);

/* Says BYE. NULL is fine. */
void parent_link_close(struct parent_link *u, const char *reason);

bool parent_link_is_up(const struct parent_link *u);

/* True: the link has been up at least once. */
bool parent_link_was_up(const struct parent_link *u);

/* Daemons above us: 1 = mainsm alone. 0 = not known yet. */
uint32_t parent_link_level(const struct parent_link *u);

/* Parents for the branches to try when this sm is lost; "" = mainsm. */
const char *parent_link_ways(const struct parent_link *u);

/* For mainsm itself, beside the parent when that is another one: as link_send(). */
int parent_link_ask_top(struct parent_link *u, const struct msg *m);

/* The number that mainsm gives the site; 0 = not known yet. */
uint32_t parent_link_site_number(const struct parent_link *u);

/* As link_send(). */
int parent_link_send(struct parent_link *u, const struct msg *m);
int parent_link_send_frames(struct parent_link *u, const uint8_t *p, size_t n);

/* Half of the queue is full: what can wait should, what may be dropped is. True when it is down. */
bool parent_link_is_congested(const struct parent_link *u);

nsec_t parent_link_rtt(const struct parent_link *u); /* 0 = none measured */
size_t parent_link_queued(const struct parent_link *u);
void parent_link_stats(const struct parent_link *u, struct link_stats *out);

/* Below another sm: the one that is there is another process than the one before. */
bool parent_link_has_lost_parent(const struct parent_link *u);

#endif
