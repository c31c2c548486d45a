/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of a measurement at an inner node: the graph that runs here, and the senders of its
 * links. A sender is a piece one level nearer to the processes. Its links are the ones that its
 * graph sends on. The stage knows which links still owe the batch of a read. A link that has missed
 * STAGE_MISSED_MAX reads in a row is not awaited until it sends again. A stage without a graph only
 * counts batches. Pure: times are arguments.
 */
#ifndef TREE_STAGE_H
#define TREE_STAGE_H

#include "common/flow/engine/flow.h"

#define STAGE_MISSED_MAX 3 /* reads for which a silent host delays all others */
/* Values in place of the index of a branch. */
#define STAGE_NOWHERE UINT32_MAX /* the sender cannot be reached */
#define STAGE_HERE (UINT32_MAX - 1) /* another stage of this daemon */

struct stage;

/* read: the last closed read. Returns NULL without memory. */
struct stage *stage_new(uint32_t measurement, int64_t read);

/* Unloads the graph from the engine. NULL is accepted. */
void stage_free(struct stage *s);

/*
 * Loads the graph into that engine, and replaces the current graph. The caller still owns g. Fails
 * like flow_load(). The engine is borrowed.
 */
int stage_load(struct stage *s, struct flow *engine, struct flow_graph *g, nsec_t start,
	       struct err *e);
void stage_unload(struct stage *s);
bool stage_is_loaded(const struct stage *s);

/* --- senders */

/*
 * Sets the links of a sender to the ones that g sends. Existing links continue unchanged. A new
 * sender is at STAGE_NOWHERE. After -ERR_NOMEM the sender is dropped.
 */
int stage_set_sender(struct stage *s, const char *name, const struct flow_graph *g, void *user);

/*
 * Sets the branch of a sender. At STAGE_NOWHERE and STAGE_HERE it is not awaited. Unknown names are
 * ignored.
 */
void stage_place_sender(struct stage *s, const char *name, uint32_t branch);
void stage_drop_sender(struct stage *s, const char *name);

/* Drop the senders that are not set between the two calls. */
void stage_begin(struct stage *s);
void stage_commit(struct stage *s);

/* Returns the user of the link's sender. Returns NULL if there is no link of that name. */
void *stage_user(const struct stage *s, const char *link);

/* --- reads */

/*
 * Takes a batch of that branch, for one link or for the remaining links of a sender
 * (common/flow/batch/rest.h). Fails like flow_take(). Fails with ERR_NOTFOUND if another branch has
 * the link, and with ERR_INVALID if the read is too far ahead.
 */
int stage_take(struct stage *s, uint32_t branch, const struct flow_batch *b, struct err *e);

/*
 * Returns the last read of which all awaited links have sent a batch. Returns any closed read, in
 * O(1), while some link has sent nothing newer than the last closed read. Returns INT64_MAX if no
 * link is awaited.
 */
int64_t stage_complete(struct stage *s);

/*
 * Closes the read. Increases the count of missed reads of links that have not sent it. Fails like
 * flow_read().
 */
int stage_read(struct stage *s, int64_t read, nsec_t t, struct err *e);

/* Closes the read of a stage without a graph. */
void stage_pass(struct stage *s, int64_t read);

/* --- counters */

struct stage_link_counts {
	const char *name, *from;
	bool is_awaited;
	uint64_t batches, strays; /* strays: duplicate and late batches */
};

/* Calls fn for each link, in any order. */
void stage_each_link(const struct stage *s,
		     void (*fn)(void *arg, const struct stage_link_counts *l), void *arg);

#endif
