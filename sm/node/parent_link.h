/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link to mainsm, direct or through another sm. It has the parent's identity, notices a new
 * parent, and holds the queue of messages.
 */
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
	/* is_other: not the previous mainsm, or the first one. */
	void (*on_up)(void *arg, bool is_other);
	void (*on_msg)(void *arg, const struct msg *m);
	void (*on_down)(void *arg, const struct err *why);
	void (*on_retry)(void *arg, const struct err *why);
	void *arg;
};

/* Borrowed pointers, copied strings. */
struct parent_link_conf {
	bool is_stacked; /* the parent is an sm: that of the site, or the stated one; else mainsm */
	struct net_ctx *ctx; /* of a stacked one, with the identity of mainsm; borrowed, copied */
	const struct connstr *conn;
	const char *stated; /* "" = from mainsm */
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase;
	struct link_dialer dialer;
	uint64_t epoch;
	const char *site, *host, *software;
	const char *listen; /* address for lms */
	struct meter *meter; /* as link_conf.meter */
	struct parent_link_handler handler;
};

/* Dials. ERR_NOMEM, ERR_LIMIT (listen). */
int parent_link_open(const struct parent_link_conf *conf, struct parent_link **out, struct err *e);

/* Sends BYE. NULL is fine. */
void parent_link_close(struct parent_link *u, const char *reason);

bool parent_link_is_up(const struct parent_link *u);

/* True if the link has been up at least once. */
bool parent_link_was_up(const struct parent_link *u);

/* Number of daemons above: 1 = mainsm alone. 0 = not known yet. */
uint32_t parent_link_level(const struct parent_link *u);

/* Parents for the branches to try when this sm is lost; "" = mainsm. */
const char *parent_link_ways(const struct parent_link *u);

/* Sends to mainsm itself, past a parent that is another sm: as link_send(). */
int parent_link_ask_top(struct parent_link *u, const struct msg *m);

/* The site's number, assigned by mainsm; 0 = not known yet. */
uint32_t parent_link_site_number(const struct parent_link *u);

/* As link_send(). */
int parent_link_send(struct parent_link *u, const struct msg *m);
int parent_link_send_frames(struct parent_link *u, const uint8_t *p, size_t n);

/*
 * True if half of the queue is full, or the link is down. Then senders should delay, and drop what
 * they may.
 */
bool parent_link_is_congested(const struct parent_link *u);

nsec_t parent_link_rtt(const struct parent_link *u); /* 0 = none measured */
size_t parent_link_queued(const struct parent_link *u);
void parent_link_stats(const struct parent_link *u, struct link_stats *out);

/* Below another sm: true if the current parent is not the previous process. */
bool parent_link_has_lost_parent(const struct parent_link *u);

#endif
