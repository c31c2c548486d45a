/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For three files only: nodes.c (the table, states and branches), nodes_greet.c (admission) and
 * nodes_claim.c (reports of a lower sm about its hosts).
 */
#ifndef SM_HOSTS_NODES_INTERNAL_H
#define SM_HOSTS_NODES_INTERNAL_H

#include "common/container/map.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "sm/hosts/nodes.h"
#include "tree/branches.h"

struct nodes {
	struct nodes_conf conf; /* strings are the members below */
	char *site, *name;
	struct link_conf link;
	struct net_listener *listener;
	struct loop_timer *age;
	struct branches *branches;
	struct node **v; /* NULL: the place is free */
	size_t cap, n, up;
	size_t linked; /* branches that are connected */
	uint64_t births;
	struct map by_number;
	struct map greeting; /* of links without a branch yet, by address */
	struct objects_total total;
	uint32_t site_number, level;
	char *ways; /* owned; parents for the branches to try when this sm is lost; NULL = none */
	bool is_closed; /* refuses all peers */
	bool is_draining; /* unknown hosts are refused */
	struct nodes_stats stats;
};

/* A claim to serve a node at b, from the host itself or from an sm that serves it. */
struct claim {
	uint32_t number;
	const char *host;
	uint64_t attach;
	const struct msg_object *head; /* the host's own object in a report; NULL: none */
};

/*
 * Checks that a number belongs to one host and a host has one number. A disconnected host that
 * returns with another number has got a new one. -ERR_DENIED.
 */
int nodes_check(struct nodes *ns, const struct claim *c, struct err *why);

/* Adds an unknown node at b. -ERR_AGAIN, -ERR_LIMIT, -ERR_NOMEM. */
int nodes_add(struct nodes *ns, const struct claim *c, struct branch *b, struct node **out,
	      struct err *why);

/* Moves the node to branch b. An lm's branch that has become empty ends. */
void node_move(struct nodes *ns, struct node *n, struct branch *b);

void node_set_sub(struct nodes *ns, struct node *n, uint32_t sub);

/* nodes_greet.c: handlers of the links below. */
int nodes_listen(struct nodes *ns, struct err *e);

/* The branch has connected, or lost its connection. */
void branch_up(struct nodes *ns, struct branch *b, struct link *l);
void branch_down(struct nodes *ns, struct branch *b, const char *reason);

/* Removes a branch without hosts and link, which frees its index. */
void branch_gone_if_empty(struct nodes *ns, struct branch *b);

#endif
