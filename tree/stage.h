/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of a measurement at an inner node: the graph that runs here, and the senders of its
 * links. A sender is what runs one level nearer to the processes; its links are those that its
 * graph sends. The stage knows which links still owe the batch of a read. A link that has missed
 * STAGE_MISSED_MAX reads in a row is not waited for until it sends again. Without a graph of its
 * own a stage only keeps account of what passes through. Pure: times are arguments.
 */
#ifndef TREE_STAGE_H
#define TREE_STAGE_H

#include "common/flow/engine/flow.h"

#define STAGE_MISSED_MAX 3 /* a host that is silent holds up all others for this many reads */
/* In the place of a branch. */
#define STAGE_NOWHERE UINT32_MAX /* the sender is out of reach */
#define STAGE_HERE (UINT32_MAX - 1) /* it is another stage of this daemon */

struct stage;

/* read: the last one that was closed. NULL without memory. */
struct stage *stage_new(uint32_t measurement, int64_t read);

/* Takes its graph out of the engine. NULL is fine. */
void stage_free(struct stage *s);

/*
 * The graph in that engine, instead of the one that the stage has; g stays the caller's. As
 * flow_load(). The engine is borrowed.
 */
int stage_load(struct stage *s, struct flow *engine, struct flow_graph *g, nsec_t start,
	       struct err *e);
void stage_unload(struct stage *s);
bool stage_is_loaded(const struct stage *s);

/* --- senders */

/*
 * The links of a sender are those that g sends. Links that it had before continue as they were. A
 * new sender is nowhere. -ERR_NOMEM: the sender is dropped.
 */
int stage_set_sender(struct stage *s, const char *name, const struct flow_graph *g, void *user);

/* STAGE_NOWHERE, STAGE_HERE: it is not waited for. Unknown senders are skipped. */
void stage_place_sender(struct stage *s, const char *name, uint32_t branch);
void stage_drop_sender(struct stage *s, const char *name);

/* Senders that are not set between the two are dropped. */
void stage_begin(struct stage *s);
void stage_commit(struct stage *s);

/* The user of the link's sender. NULL: no link of that name. */
void *stage_user(const struct stage *s, const char *link);

/* --- reads */

/*
 * A batch of that branch, for one link or for the rest of its sender's (common/flow/batch/rest.h).
 * As flow_take(); -ERR_NOTFOUND also when the link is another branch's, -ERR_INVALID when it is
 * too far ahead.
 */
int stage_take(struct stage *s, uint32_t branch, const struct flow_batch *b, struct err *e);

/*
 * The last read that all links that are waited for have sent; any closed one while some link has
 * sent nothing newer. INT64_MAX: none is waited for. O(1) while it is a closed one.
 */
int64_t stage_complete(struct stage *s);

/* Links that have not sent the read are one nearer to not being waited for. As flow_read(). */
int stage_read(struct stage *s, int64_t read, nsec_t t, struct err *e);

/* As above, for a stage without a graph: all values of the read have passed through. */
void stage_pass(struct stage *s, int64_t read);

/* --- what can be seen */

struct stage_link_counts {
	const char *name, *from;
	bool is_awaited;
	uint64_t batches, strays; /* strays: doubles and what came too late */
};

/* Each link, in no order. */
void stage_each_link(const struct stage *s,
		     void (*fn)(void *arg, const struct stage_link_counts *l), void *arg);

#endif
