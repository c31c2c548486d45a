/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of a measurement at an inner node: the graph that runs here, and the senders of its
 * links. A sender is a piece one level nearer to the processes; its links are those that its graph
 * sends. The stage knows which links still owe the batch of a read. A link that has missed
 * STAGE_MISSED_MAX reads in a row is not awaited until it sends again. A stage without a graph only
 * counts the batches that pass through. Pure: times are arguments.
 */
#ifndef TREE_STAGE_H
#define TREE_STAGE_H

#include "common/flow/engine/flow.h"

#define STAGE_MISSED_MAX 3 /* a silent host delays all others for this many reads */
/* Special values in place of a branch. */
#define STAGE_NOWHERE UINT32_MAX /* the sender is out of reach */
#define STAGE_HERE (UINT32_MAX - 1) /* another stage of this daemon */

struct stage;

/* read: the last closed one. Returns NULL without memory. */
struct stage *stage_new(uint32_t measurement, int64_t read);

/* Unloads its graph from the engine. NULL is fine. */
void stage_free(struct stage *s);

/*
 * Loads the graph into that engine, in place of the current one; the caller still owns g. As
 * flow_load(). The engine is borrowed.
 */
int stage_load(struct stage *s, struct flow *engine, struct flow_graph *g, nsec_t start,
	       struct err *e);
void stage_unload(struct stage *s);
bool stage_is_loaded(const struct stage *s);

/* --- senders */

/*
 * Sets the links of a sender to those that g sends. Existing links continue unchanged. A new sender
 * is at STAGE_NOWHERE. -ERR_NOMEM: the sender is dropped.
 */
int stage_set_sender(struct stage *s, const char *name, const struct flow_graph *g, void *user);

/* STAGE_NOWHERE, STAGE_HERE: it is not awaited. Unknown senders are skipped. */
void stage_place_sender(struct stage *s, const char *name, uint32_t branch);
void stage_drop_sender(struct stage *s, const char *name);

/* Senders that are not set between the two calls are dropped. */
void stage_begin(struct stage *s);
void stage_commit(struct stage *s);

/* Returns the user of the link's sender. NULL: no link of that name. */
void *stage_user(const struct stage *s, const char *link);

/* --- reads */

/*
 * Takes a batch of that branch, for one link or for the rest of its sender's
 * (common/flow/batch/rest.h). As flow_take(); also -ERR_NOTFOUND if another branch has the link,
 * -ERR_INVALID if it is too far ahead.
 */
int stage_take(struct stage *s, uint32_t branch, const struct flow_batch *b, struct err *e);

/*
 * Returns the last read that all awaited links have sent; any closed one while some link has sent
 * nothing newer. INT64_MAX: none is awaited. O(1) while it is a closed one.
 */
int64_t stage_complete(struct stage *s);

/* Closes the read. Links that have not sent it are counted as missing once more. As flow_read(). */
int stage_read(struct stage *s, int64_t read, nsec_t t, struct err *e);

/* The same for a stage without a graph: all values of the read have passed through. */
void stage_pass(struct stage *s, int64_t read);

/* --- counters */

struct stage_link_counts {
	const char *name, *from;
	bool is_awaited;
	uint64_t batches, strays; /* strays: duplicates and late batches */
};

/* Calls fn for each link, in no order. */
void stage_each_link(const struct stage *s,
		     void (*fn)(void *arg, const struct stage_link_counts *l), void *arg);

#endif
