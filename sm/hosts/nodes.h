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
/* accepted by TLS, before HELLO: this many may return at once after a restart */
#define NODES_GREETING_MAX 512
/* reports sent at its old branch have arrived after this time */
#define NODE_MOVED_NS (10 * NSEC_PER_SEC)
/* requests do not wait for a host that is silent for this time */
#define NODE_LOST_NS (60 * NSEC_PER_SEC)
#define NODE_HUNG_NS (6 * NSEC_PER_SEC) /* the time after which silence is detected */
#define NODE_HUNG_LATE 3 /* a single request may be late for other reasons */
/* a lost host is removed after this time */
#define NODE_FORGET_NS (600 * NSEC_PER_SEC)

struct loop;
struct meter;
struct net_ctx;
struct nodes;

/* Read-only outside this room. */
struct node {
	uint32_t place, number;
	char token[TOKEN_BYTES];
	char host[NAME_MAX_BYTES + 1];
	struct branch *branch; /* never NULL; it may be down */
	struct list in_branch;
	uint64_t attach; /* the highest number that was received */
	uint64_t birth; /* number of the node in the order of admission */
	uint64_t was_at; /* id of its previous branch; 0 = none */
	nsec_t moved_at;
	uint32_t sub; /* enum msg_node_sub */
	nsec_t since; /* time of the last change of `sub` */
	struct objects *objects;
	bool has_past; /* another sm served it before */
	bool has_news; /* the node itself is new, or its sub changed */
};

struct nodes_handler {
	void (*on_up)(void *arg, struct branch *b);
	/* Disconnected, but still known: its requests are lost, its csrs stay. */
	void (*on_down)(void *arg, struct branch *b, const char *reason);
	void (*on_msg)(void *arg, struct branch *b, const struct msg *m);
	/* sub changed. */
	void (*on_state)(void *arg, struct node *n);
	/* The node is at another branch than before. */
	void (*on_moved)(void *arg, struct node *n);
	/* The node is about to be removed: its lm has left, or was lost for a long time. */
	void (*on_forget)(void *arg, struct node *n);
	/* The branch has no hosts left and will send nothing more. */
	void (*on_gone)(void *arg, struct branch *b);
	/* A host was removed. */
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
	const char *site, *name; /* name: that of this sm, for HELLO_ACK */
	const char *listen;
	uint16_t port;
	size_t queue_cap;
	size_t fan_in; /* limit of lms served here although there are lower sms */
	struct meter *meter; /* as link_conf.meter */
	struct nodes_handler handler;
};

/* Listens. ERR_SYS, ERR_INVALID, ERR_NOMEM. */
int nodes_open(const struct nodes_conf *conf, struct nodes **out, struct err *e);

/* Closes all links; no callback. NULL is fine. */
void nodes_close(struct nodes *ns);

/* Refuses all new peers from now on. */
void nodes_refuse_all(struct nodes *ns);

/* True: accepts only known hosts; false: accepts others, too. */
void nodes_refuse_new(struct nodes *ns, bool refuse);

/* Sets the quota of hosts and objects; borrowed. NULL: no quota. */
void nodes_set_quota(struct nodes *ns, const struct quota *q, struct quota_use *use);

uint16_t nodes_port(const struct nodes *ns);

/*
 * Sets values for HELLO_ACK: the site's number, the number of daemons above, and parents to try
 * without this sm.
 */
void nodes_set_above(struct nodes *ns, uint32_t site_number, uint32_t level, const char *ways);

/* Returns the level that was set; 0: there is no parent yet. */
uint32_t nodes_level(const struct nodes *ns);

struct node *nodes_at(const struct nodes *ns, uint32_t place);
struct node *nodes_find(const struct nodes *ns, uint32_t number);

/* Returns how many nodes were admitted so far: struct node.birth of the last one. */
uint64_t nodes_births(const struct nodes *ns);

/* Returns a number above all indexes. */
uint32_t nodes_bound(const struct nodes *ns);
size_t nodes_count(const struct nodes *ns);
size_t nodes_up(const struct nodes *ns);
const struct objects_total *nodes_total(const struct nodes *ns);

/*
 * True if the node is connected, and gets requests. A hung node gets them too, since only a reply
 * shows that it has recovered.
 */
bool node_is_up(const struct node *n);

/*
 * Returns the links to those hosts; borrowed. The hosts of a branch determine which objects it may
 * report.
 */
struct branches *nodes_branches(const struct nodes *ns);

/* Returns the number of connected branches. */
size_t nodes_linked(const struct nodes *ns);

/* For branches_set_owner(), with a struct nodes: true if this branch may report that object. */
bool nodes_owns(void *nodes, const struct branch *b, const char *token, size_t len);

/*
 * Handles a lower sm's report about a host: whether it serves the host, and the host's state.
 * Returns 0 and the node in *out. NULL: nothing to do (another branch serves it, or it is lost
 * now). -ERR_DENIED, -ERR_PROTO: the sm breaks the rules; others: this host cannot be admitted.
 */
int nodes_claim(struct nodes *ns, struct branch *b, const struct msg_directory *m,
		struct node **out, struct err *e);

/*
 * A request's deadline passed without an answer from the branch, or a late answer arrived. An lm is
 * hung if it sends heartbeats but answers no request for NODE_HUNG_NS, at least NODE_HUNG_LATE of
 * them. A lower sm reports this for its own hosts.
 */
void branch_late(struct nodes *ns, struct branch *b);
void branch_answered(struct nodes *ns, struct branch *b);

/* Removes the node now, after on_forget. */
void node_forget(struct nodes *ns, struct node *n);

struct nodes_stats {
	uint64_t accepted, refused, cut_slow, cut_wrong;
	uint64_t sent_on; /* lms that were sent to an sm below */
	uint64_t fenced; /* claims of daemons that no longer serve the host */
	size_t sms; /* connected sms below this one */
	uint64_t dropped; /* messages to hosts that did not read */
	size_t queued; /* bytes, over all links */
	nsec_t rtt_max; /* -1 = none measured */
};

void nodes_stats(const struct nodes *ns, struct nodes_stats *out);

#endif
