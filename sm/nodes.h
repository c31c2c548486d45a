/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts of the site: who is let in, who is there, who is silent. A host
 * has a number that mainsm gave it, and an index here, as planning uses it. The index is given
 * again
 * only after everybody was told that its host is forgotten.
 */
#ifndef SM_NODES_H
#define SM_NODES_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/daemon/timebase.h"
#include "common/omis/token.h"
#include "proto/msg.h"
#include "sm/objects.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODES_MAX 4096 /* hosts of one sm; a larger site has more than one */
#define NODES_GREETING_MAX \
	512 /* let in by TLS, HELLO still to come: as many come back at once after a restart */
#define NODE_LOST_NS (60 * NSEC_PER_SEC) /* silent for so long: nobody should wait for it */
#define NODE_FORGET_NS \
	(600 * NSEC_PER_SEC) /* a host that does not come back takes no room for ever */

struct chan;
struct link;
struct loop;
struct meter;
struct net_ctx;
struct nodes;

/* Read only outside. */
struct node {
	uint32_t index, number;
	char token[TOKEN_BYTES];
	char host[NAME_MAX_BYTES + 1];
	struct link *link; /* NULL: not connected */
	uint64_t epoch; /* of its lm */
	uint32_t sub; /* enum msg_node_sub */
	nsec_t since; /* when sub became what it is */
	struct objects *objects;
	bool has_news; /* about itself: sub changed, or it is new */
};

struct nodes_handler {
	void (*on_up)(void *arg, struct node *n);
	/* Not connected any more, but known: its requests are lost, what it watches for is kept. */
	void (*on_down)(void *arg, struct node *n, const char *reason);
	void (*on_msg)(void *arg, struct node *n, const struct msg *m);
	/* sub changed. */
	void (*on_state)(void *arg, struct node *n);
	/* It is about to be forgotten: it said that it goes, or was lost for long. */
	void (*on_forget)(void *arg, struct node *n);
	/* And it is forgotten now. */
	void (*on_forgotten)(void *arg);
	/* Somebody was not let in. */
	void (*on_refused)(void *arg, const char *who, const char *why);
	void *arg;
};

/* Borrowed pointers, copied strings. */
struct nodes_conf {
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase;
	struct net_ctx *ctx;
	uint64_t epoch;
	const char *site, *name; /* name: of ourselves, for HELLO_ACK */
	const char *listen;
	uint16_t port;
	size_t queue_cap;
	struct meter *meter; /* as link_conf.meter */
	struct nodes_handler handler;
};

/* Listens. ERR_SYS, ERR_INVALID, ERR_NOMEM. */
int nodes_open(const struct nodes_conf *conf, struct nodes **out, struct err *e);

/* Hangs up on everybody; no callback. NULL is fine. */
void nodes_close(struct nodes *ns);

/* Lets nobody in from now on. */
void nodes_refuse_all(struct nodes *ns);

/* Only hosts that are known; false: others too. */
void nodes_refuse_new(struct nodes *ns, bool refuse);

/* How many hosts and objects there may be; borrowed. NULL: no quota. */
void nodes_set_quota(struct nodes *ns, const struct quota *q, struct quota_use *use);

uint16_t nodes_port(const struct nodes *ns);

/* For HELLO_ACK; 0 before mainsm has told. */
void nodes_set_site_number(struct nodes *ns, uint32_t number);

struct node *nodes_at(const struct nodes *ns, uint32_t index);
struct node *nodes_find(const struct nodes *ns, uint32_t number);

/* All indexes are below this. */
uint32_t nodes_bound(const struct nodes *ns);
size_t nodes_count(const struct nodes *ns);
size_t nodes_up(const struct nodes *ns);
const struct objects_total *nodes_total(const struct nodes *ns);

/*
 * As link_send(), but a node that does not read (-ERR_AGAIN) is cut. -ERR_CLOSED when it is not
 * connected.
 */
int node_send(struct nodes *ns, struct node *n, const struct msg *m);
void nodes_send_all(struct nodes *ns, const struct msg *m);

/* It broke the rules: cuts it; on_down follows. */
void node_cut(struct nodes *ns, struct node *n, enum msg_error_code code, const char *why);

/* Forgets it now: on_forget, then it is gone. */
void node_forget(struct nodes *ns, struct node *n);

/*
 * Takes its time into account: half of the measured round trip at least, or 0 when nothing was
 * measured.
 */
nsec_t node_rtt(const struct node *n);

struct nodes_stats {
	uint64_t accepted, refused, cut_slow, cut_wrong;
	uint64_t dropped; /* messages to hosts that did not read */
	size_t queued; /* bytes, over all links */
	nsec_t rtt_max; /* -1 = none measured */
};

void nodes_stats(const struct nodes *ns, struct nodes_stats *out);

/* What waits in all queues to hosts, or a little more: what has drained in a few ms is still in it. */
size_t nodes_queued(struct nodes *ns);

#endif
