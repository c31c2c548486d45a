/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts of the site: admission and state of each. A host has a number from mainsm and belongs
 * to a branch: its own link, or that of a lower sm that serves it. It may return at another branch.
 * Of two claims to one host, the newer one has the greater attach, which the host's lm increases.
 */
#ifndef SM_HOSTS_NODES_H
#define SM_HOSTS_NODES_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/omis/text/token.h"
#include "common/time/timebase.h"
#include "proto/msg.h"
#include "sm/hosts/objects.h"
#include "tree/branches.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODES_MAX 4096 /* hosts of one sm; a larger site has more than one */
/* let in by TLS, HELLO still to come: as many come back at once after a restart */
#define NODES_GREETING_MAX 512
#define NODE_MOVED_NS (10 * NSEC_PER_SEC) /* what it said at its old branch has come by then */
#define NODE_LOST_NS (60 * NSEC_PER_SEC) /* silent for this time: requests do not wait for it */
#define NODE_HUNG_NS (6 * NSEC_PER_SEC) /* as long as silence takes to be noticed */
#define NODE_HUNG_LATE 3 /* a request may be late for reasons of its own */
/* a host that does not come back takes no room for ever */
#define NODE_FORGET_NS (600 * NSEC_PER_SEC)

struct loop;
struct meter;
struct net_ctx;
struct nodes;

/* Read only outside. */
struct node {
	uint32_t place, number;
	char token[TOKEN_BYTES];
	char host[NAME_MAX_BYTES + 1];
	struct branch *branch; /* never NULL; it may be down */
	struct list in_branch;
	uint64_t attach; /* the highest that was seen */
	uint64_t birth; /* counts the nodes that came to be known here */
	uint64_t was_at; /* id of the branch before; 0 = none */
	nsec_t moved_at;
	uint32_t sub; /* enum msg_node_sub */
	nsec_t since; /* when sub became what it is */
	struct objects *objects;
	bool has_past; /* it was served elsewhere before it came here */
	bool has_news; /* about itself: sub changed, or it is new */
};

struct nodes_handler {
	void (*on_up)(void *arg, struct branch *b);
	/* No longer connected, but known: its requests are lost, its conditional requests stay. */
	void (*on_down)(void *arg, struct branch *b, const char *reason);
	void (*on_msg)(void *arg, struct branch *b, const struct msg *m);
	/* sub changed. */
	void (*on_state)(void *arg, struct node *n);
	/* The node is at another branch than before. */
	void (*on_moved)(void *arg, struct node *n);
	/* The node is about to be removed: its lm has left, or was lost for long. */
	void (*on_forget)(void *arg, struct node *n);
	/* The branch has no hosts left: nothing will come from it. */
	void (*on_gone)(void *arg, struct branch *b);
	/* A host is forgotten now. */
	void (*on_forgotten)(void *arg);
	/* A peer was refused. */
	void (*on_refused)(void *arg, const char *peer, const char *why);
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
	size_t fan_in; /* lms that are served here although there are sms below */
	struct meter *meter; /* as link_conf.meter */
	struct nodes_handler handler;
};

/* Listens. ERR_SYS, ERR_INVALID, ERR_NOMEM. */
int nodes_open(const struct nodes_conf *conf, struct nodes **out, struct err *e);

/* Hangs up on everybody; no callback. NULL is fine. */
void nodes_close(struct nodes *ns);

/* Refuses all new peers from now on. */
void nodes_refuse_all(struct nodes *ns);

/* Only hosts that are known; false: others too. */
void nodes_refuse_new(struct nodes *ns, bool refuse);

/* How many hosts and objects there may be; borrowed. NULL: no quota. */
void nodes_set_quota(struct nodes *ns, const struct quota *q, struct quota_use *use);

uint16_t nodes_port(const struct nodes *ns);

/* For HELLO_ACK: the site's number, how many daemons are above us, and parents to try
 * without us. */
void nodes_set_above(struct nodes *ns, uint32_t site_number, uint32_t level, const char *ways);

/* As it was set; 0: there is no parent yet. */
uint32_t nodes_level(const struct nodes *ns);

struct node *nodes_at(const struct nodes *ns, uint32_t place);
struct node *nodes_find(const struct nodes *ns, uint32_t number);

/* How many have come to be known: struct node.birth of the last one. */
uint64_t nodes_births(const struct nodes *ns);

/* All places are below this. */
uint32_t nodes_bound(const struct nodes *ns);
size_t nodes_count(const struct nodes *ns);
size_t nodes_up(const struct nodes *ns);
const struct objects_total *nodes_total(const struct nodes *ns);

/* True: the node is connected, and gets requests. A hung one gets them too, since only a reply
 * shows that it has recovered. */
bool node_is_up(const struct node *n);

/* The links to those hosts; borrowed. What a branch may speak of, these hosts decide. */
struct branches *nodes_branches(const struct nodes *ns);

/* Branches that are connected. */
size_t nodes_linked(const struct nodes *ns);

/* For branches_set_owner(), of a struct nodes: may this branch speak about that object? */
bool nodes_owns(void *nodes, const struct branch *b, const char *token, size_t len);

/*
 * An sm below says something of a host: whether it is its own, and how the host is. 0, with the
 * node in *out; NULL: nothing is to be done (another branch serves it, or it is gone now).
 * -ERR_DENIED, -ERR_PROTO: the sm breaks the rules; others: this host cannot be taken in.
 */
int nodes_claim(struct nodes *ns, struct branch *b, const struct msg_directory *m,
		struct node **out, struct err *e);

/*
 * A request's deadline passed without an answer from there; or an answer came, however late. An lm
 * that sends heartbeats but answers nothing for NODE_HUNG_NS and NODE_HUNG_LATE requests is hung.
 * A lower sm reports this of its own hosts.
 */
void branch_late(struct nodes *ns, struct branch *b);
void branch_answered(struct nodes *ns, struct branch *b);

/* Forgets it now: on_forget, then it is gone. */
void node_forget(struct nodes *ns, struct node *n);

struct nodes_stats {
	uint64_t accepted, refused, cut_slow, cut_wrong;
	uint64_t sent_on; /* lms that were sent to an sm below */
	uint64_t fenced; /* claims of daemons that no longer serve the host */
	size_t sms; /* connected below */
	uint64_t dropped; /* messages to hosts that did not read */
	size_t queued; /* bytes, over all links */
	nsec_t rtt_max; /* -1 = none measured */
};

void nodes_stats(const struct nodes *ns, struct nodes_stats *out);

#endif
