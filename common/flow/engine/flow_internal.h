/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internals of the engine. Nodes are elements of one array and refer to each other by number;
 * the outputs of a node are adjacent in f->edge. A node's state is a few arrays, allocated when it
 * is loaded.
 */
#ifndef COMMON_FLOW_ENGINE_FLOW_INTERNAL_H
#define COMMON_FLOW_ENGINE_FLOW_INTERNAL_H

#include "common/container/map.h"
#include "common/flow/engine/flow.h"
#include "common/flow/engine/partial.h"
#include "common/flow/graph/graph_limits.h"
#include "common/flow/graph/match.h"
#include "stats/interval.h"

/* OP, PAIR, FLOW_WHO: the inputs of a key as an array, with constants filled in. */
struct op_state {
	struct match m; /* used only if more than one input varies */
	bool matched;
	struct flow_token *in; /* [window, or 1][nin] */
	struct agg *pair; /* PAIR, FLOW_WHO: its output */
	union agg_room *room; /* of `pair`, or NULL */
	uint64_t object; /* FLOW_WHO: packed by who_pack() */
};

/* SET: one partial aggregate for each key; in the READ domain only one. */
struct set_state {
	struct match m;
	struct flow_partial *part; /* [window, or 1] */
	union agg_room *room; /* as many rooms, or NULL */
};

/*
 * VT_AGG: aggregates of this interval, of the next one (tokens later than the announced end), and
 * since the start.
 */
struct agg_state {
	/* part[now] and part[!now] are the two intervals, part[2] is the total */
	struct flow_partial *part;
	union agg_room *room; /* 3 or NULL */
	unsigned now;
	/* some contributor could have reported, in the interval or since the start */
	bool has_lived;
};

/* LINK_IN of the READ domain: batches for future reads. */
struct reads_state {
	int64_t key[FLOW_READS_OPEN]; /* 0: empty */
	struct flow_partial *part; /* [FLOW_READS_OPEN] */
	union agg_room *room;
};

/* Links of the VT domain: tokens in the order of arrival. */
struct queue_state {
	struct flow_token *t; /* [window], a ring */
	struct agg *a; /* aggregates of partial tokens, or NULL */
	union agg_room *room;
	uint32_t cap, head, n;
	uint64_t lost; /* lost tokens of the current read */
	struct queue_mark {
		int64_t read;
		uint32_t n; /* number of tokens of that read, from head on */
		bool lost;
	} mark[FLOW_READS_OPEN];
	uint32_t nmarks;
};

/* DELTA: the state at the last read that had a value. */
struct delta_state {
	double value, error;
	nsec_t time;
	int64_t read;
};

/* STOP: the decoded rule. */
struct stop_state {
	struct stop *rule; /* owned */
	bool is_reached; /* the rule holds at the current read */
	enum dependence dependence;
};

/* CHOICE: its words; owned. */
struct choice_state {
	struct choice_word *word;
	size_t n;
};

struct fedge {
	uint32_t node, input;
};

/* The members that a token needs are first, in few cache lines. */
struct fnode {
	enum flow_kind kind;
	enum flow_op op;
	uint32_t edge, nedge; /* edges to the nodes that read it */
	uint32_t nin;
	uint32_t measurement; /* index of the measurement, for nodes that belong to one */
	int64_t shift;
	struct flow_counts count;

	union {
		struct op_state op_state;
		struct set_state set;
		struct agg_state agg;
		struct reads_state reads;
		struct queue_state queue;
		struct delta_state delta;
		struct stop_state stop;
		struct choice_state choice;
	};

	enum flow_domain domain;
	bool partial, closed;
	bool shut; /* INPUT, LINK_IN: its owner has closed it, */
	bool ended; /* because it has no further data */
	bool passed; /* it is already in the list under construction */
	struct flow_fold fold;

	struct flow_token now; /* READ: its output in the current read */
	const struct agg *now_agg;

	uint32_t *in; /* numbers of its input nodes */
	uint32_t depth, refs, behind, window, output;
	uint32_t alive_k, alive_n; /* contributors: open ones, and those that should be */
	enum flow_since since;
	bool per_second;
	bool bounds_steps; /* INPUT: see flow_source_bounds_steps() */
	double constant;
	int64_t batch_top; /* LINK_IN: the highest read of a batch, */
	uint64_t batch_seen; /* bits of the last 64 reads up to that one that have arrived */
	char *link, *identity;
	size_t state_bytes;
};

struct fmeas {
	uint32_t id; /* 0: free entry */
	nsec_t start, last_t, until;
	bool announced;
	int64_t last_read;
	uint32_t *node; /* node, by number in the graph */
	size_t nnode;
	/* the measurement's nodes, inputs before the nodes that read them, each once */
	uint32_t *pass;
	size_t npass;
	struct smap link; /* name of a LINK_IN -> its index + 1 */
};

struct flow {
	struct flow_limits limits;
	struct flow_out out;
	struct fnode *node;
	size_t nnode, node_cap; /* nodes by index, some of them free (refs 0) */
	struct fmeas *meas;
	size_t nmeas, meas_cap;
	struct fedge *edge;
	size_t edge_cap;
	uint32_t *order; /* indexes in use, by depth */
	size_t norder, order_cap;
	struct smap by_identity; /* identity -> index + 1 */
	size_t used, state_bytes;
	size_t free_from; /* no index below this one is free */
	bool is_unsettled; /* inputs were closed or opened since flow_settle() */
};

struct fmeas *flow_meas(const struct flow *f, uint32_t measurement);

/* --- flow_node.c */
/*
 * Allocates the node's state as g describes it. Fails with ERR_NOMEM, and leaves nothing behind.
 * The inputs in n->in must be loaded.
 */
int flow_node_init(struct flow *f, struct fnode *n, const struct flow_node *g);
void flow_node_done(struct fnode *n);

/* --- flow_run.c: the VT domain */
/* Passes the token to all nodes that read this one. a: its partial aggregate, or NULL. */
void flow_emit(struct flow *f, struct fnode *n, const struct flow_token *t, const struct agg *a);

/* --- flow_close.c */
/*
 * Counts closed inputs and remaining contributors again, after inputs or the graph have changed.
 * Called once after many inputs were closed, because it examines each node.
 */
void flow_settle(struct flow *f);
void flow_settle_if_needed(struct flow *f);

/* --- one file for each kind of node */
int op_init(struct flow *f, struct fnode *n);
int who_init(struct flow *f, struct fnode *n, const struct flow_whose *of);
void op_done(struct fnode *n);
void op_take(struct flow *f, struct fnode *n, uint32_t input, const struct flow_token *t);
void op_read(struct flow *f, struct fnode *n);

int set_init(struct flow *f, struct fnode *n);
void set_done(struct fnode *n);
void set_take(struct flow *f, struct fnode *n, uint32_t input, const struct flow_token *t,
	      const struct agg *a);
void set_close(struct flow *f, struct fnode *n, uint32_t input, bool closed);
void set_read(struct flow *f, struct fnode *n);

int vt_agg_init(struct fnode *n);
void vt_agg_done(struct fnode *n);
void vt_agg_take(struct flow *f, struct fnode *n, const struct flow_token *t, const struct agg *a);
void vt_agg_read(struct flow *f, struct fnode *n, int64_t read, nsec_t t);

int reads_init(struct fnode *n);
void reads_done(struct fnode *n);
void reads_take(struct fnode *n, int64_t last_read, const struct flow_batch *b);
void reads_read(struct fnode *n, int64_t last_read, int64_t read, nsec_t t);

int queue_init(struct fnode *n);
void queue_done(struct fnode *n);
void queue_put(struct fnode *n, const struct flow_token *t, const struct agg *a);
void queue_take(struct fnode *n, int64_t last_read, const struct flow_batch *b);
/* Emits the tokens of all VT links up to the read, by key as far as they are in order. */
void queue_flow(struct flow *f, struct fmeas *m, int64_t read);
void queue_send(struct flow *f, const struct fmeas *m, struct fnode *n, int64_t read);

int stop_init(struct fnode *n, const struct flow_stop *of);
void stop_done(struct fnode *n);
void stop_read(const struct flow *f, struct fnode *n);
void stop_report(const struct flow *f, const struct fnode *n, struct flow_result *r);

void delta_init(struct fnode *n, nsec_t start);
void delta_read(struct flow *f, struct fnode *n);
void delta_take(struct fnode *n, const struct flow_token *t, struct flow_token *out);

#endif
