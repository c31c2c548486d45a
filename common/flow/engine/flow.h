/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dataflow engine, which evaluates the graphs of any number of measurements in one daemon.
 * Pure: times are arguments, and results are passed to callbacks. Nothing is allocated while tokens
 * flow. Equal nodes of two measurements (the same operation on the same inputs) exist once; each
 * measurement has its own results. Nodes that count reads (aggregates over virtual time, links,
 * results) belong to one measurement.
 */
#ifndef COMMON_FLOW_ENGINE_FLOW_H
#define COMMON_FLOW_ENGINE_FLOW_H

#include "common/flow/graph/agg.h"
#include "common/flow/graph/graph.h"
#include "common/flow/graph/token.h"
#include "stats/interval.h"

struct flow;

struct flow_limits {
	size_t measurements_max, nodes_max;
	size_t state_max_bytes; /* limit of the state of all nodes */
};

/* A value of an output. */
struct flow_result {
	uint32_t measurement, output;
	struct flow_token t; /* its key is the number of the read, or the virtual time */
	/*
	 * the aggregate of a HISTOGRAM, of a kind of objects, of other values in parts, or of a
	 * stop; otherwise NULL
	 */
	const struct agg *a;
	double q; /* of such an aggregate, for kinds with agg_kind_has_share() */
	bool is_enough; /* for a stop: its rule holds */
	/* for a stop: detected dependence that makes its interval too narrow */
	enum dependence dependence;
};

/* The tokens of one link for one read. */
struct flow_batch {
	uint32_t measurement;
	const char *link;
	int64_t read;
	enum flow_domain domain;
	bool partial;
	enum agg_kind agg; /* kind of a partial aggregate */
	uint64_t lost; /* tokens for which there was no room */
	uint32_t n;
	const struct flow_token *t;
	const struct agg *a; /* for a partial batch: n aggregates */
	uint32_t rest; /* for a rest (rest.h): number of its links; 0: a batch of a single link */
	uint64_t rest_sum;
};

/* The callbacks must not change the engine. Their arguments are valid during the call. */
struct flow_out {
	void (*on_result)(void *arg, const struct flow_result *r);
	void (*on_batch)(void *arg, const struct flow_batch *b);
	void *arg;
};

/* Returns NULL without memory. */
struct flow *flow_new(const struct flow_limits *limits, const struct flow_out *out);
void flow_free(struct flow *f);

/*
 * Verifies and loads the graph of a measurement, and starts it. For an existing measurement it
 * replaces the graph: equal nodes keep their state, and start and reads continue. Fails with
 * ERR_INVALID, ERR_LIMIT, ERR_NOMEM, without a change.
 */
int flow_load(struct flow *f, struct flow_graph *g, nsec_t start, struct err *e);
/* Ignores an unknown measurement. Without measurements the engine has no tables. */
void flow_remove(struct flow *f, uint32_t measurement);

/* --- inputs */

#define FLOW_NO_INPUT UINT32_MAX

/*
 * Returns the input for node `number` of the measurement's graph, for the calls below. Measurements
 * that share the node get the same input. Valid until the last of them is removed. Returns
 * FLOW_NO_INPUT if the node is not an input.
 */
uint32_t flow_input(const struct flow *f, uint32_t measurement, uint32_t number);

/*
 * Pushes a token. At a VT input it is processed at once. At a READ input (key: the number of the
 * read, later than the last one) it waits for flow_read(), and the last such token counts. The
 * engine sets requester.
 */
void flow_push(struct flow *f, uint32_t input, const struct flow_token *t);

/*
 * - flow_close(): the input is no longer awaited. Its source cannot report, and results count it as
 * missing.
 * - flow_end(): the input has ended, and its values are complete.
 * - flow_open(): the input is awaited again.
 *
 * Keys that become complete fire with the next token, announcement, read or graph: closing many
 * inputs costs little more than closing one. The same is true of links.
 */
void flow_close(struct flow *f, uint32_t input);
void flow_end(struct flow *f, uint32_t input);
void flow_open(struct flow *f, uint32_t input);

/*
 * Takes a batch from the other end of a link, which waits for its read. Fails with ERR_NOTFOUND for
 * an unknown link, and ERR_INVALID for a link of another kind. A batch for an earlier read is late:
 * its tokens, and its aggregates since the last read, count in the next read; others are dropped. A
 * second batch for a read, or one FLOW_READS_OPEN reads ahead, is counted and ignored.
 */
int flow_take(struct flow *f, const struct flow_batch *b, struct err *e);

/*
 * True if a batch for that read has arrived, or if the read is too old to be known. False for an
 * unknown link.
 */
bool flow_has_taken(const struct flow *f, uint32_t measurement, const char *link, int64_t read);
int flow_link_close(struct flow *f, uint32_t measurement, const char *link);
int flow_link_open(struct flow *f, uint32_t measurement, const char *link);

/* --- reads */

/*
 * Announces the end of the current interval at t (mainsm's time), so that later tokens count in the
 * next interval. Without this call, all tokens before flow_read() count.
 */
int flow_announce(struct flow *f, uint32_t measurement, nsec_t t);

/*
 * Reads the measurement, whose data are complete up to t. Calls on_result() and on_batch() before
 * it returns. Fails with ERR_NOTFOUND, and with ERR_INVALID unless read and t are beyond the last
 * ones.
 */
int flow_read(struct flow *f, uint32_t measurement, int64_t read, nsec_t t, struct err *e);

/* Returns the last read of the measurement; 0: none yet; -1: there is no such measurement. */
int64_t flow_last_read(const struct flow *f, uint32_t measurement);

/* --- counters */

struct flow_counts {
	uint64_t in, out; /* tokens in and out */
	uint64_t late, doubles;
	uint64_t unmatched; /* keys of an operation that some input never had */
	uint64_t incomplete; /* keys of a set that fired without some */
	uint64_t overflow; /* tokens for which there was no room */
	uint64_t early; /* tokens of a time before the measurement's start */
};

struct flow_look {
	struct flow_counts count; /* counts of all measurements that share the node */
	uint32_t measurements; /* measurements that share it */
	uint32_t open; /* keys or tokens that it holds */
	uint32_t window;
	bool closed; /* for an operation or a set: its state at the last token or read */
};

/* Reports node `number` of the measurement's graph. Fails with ERR_NOTFOUND. */
int flow_look(const struct flow *f, uint32_t measurement, uint32_t number, struct flow_look *out);

struct flow_size {
	size_t measurements, nodes, state_bytes;
	size_t table_bytes; /* of nodes and links, in use or not */
};

struct flow_size flow_size(const struct flow *f);

#endif
