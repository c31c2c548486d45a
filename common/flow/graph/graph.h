/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Description of a dataflow graph, or of the piece of one that runs in one
 * daemon. A compiler creates it, messages carry it, and the engine loads it.
 *
 * Nodes are numbered from 0, and a node's inputs have lower numbers than the
 * node itself. The order of the numbers is thus an order of evaluation, and a
 * cycle cannot be expressed.
 *
 * Tokens on an edge belong to a domain, which defines their key:
 *	FLOW_VT    the virtual time of a probe
 *	FLOW_READ  the number of the read, from 1
 *	FLOW_ANY   a constant: valid for every key
 *
 * A token has either one value, or a partial aggregate (node.partial). The
 * latter is merged with others of its kind. docs/architecture.md has the
 * rules.
 */
#ifndef COMMON_FLOW_GRAPH_GRAPH_H
#define COMMON_FLOW_GRAPH_GRAPH_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/flow/graph/agg.h"
#include "common/flow/graph/choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct omis_value;

enum flow_domain { FLOW_ANY, FLOW_VT, FLOW_READ };

enum flow_kind {
	FLOW_CONST,
	FLOW_INPUT, /* the daemon supplies the values: .source */
	FLOW_OP, /* .op over inputs of one key */
	FLOW_SET, /* .fold over the inputs of one key, which are all in one domain */
	FLOW_VT_AGG, /* .fold over the keys of one VT input, with one token for each read */
	FLOW_SHIFT, /* VT: adds .shift to the key. `e AT p(vt-1)` is `e AT p(vt)` shifted by 1 */
	/*
	 * READ: the difference to the last read that had a value; see below. VT: the difference of
	 * a source to its previous event with any key.
	 */
	FLOW_DELTA,
	/*
	 * READ: divided by the seconds of the interval, which begins at .since: the start or the
	 * last read
	 */
	FLOW_RATE,
	FLOW_LINK_IN, /* emits the tokens of a LINK_OUT of the same name: .link */
	FLOW_LINK_OUT, /* sends its input to the parent, once per read: .link.name, .link.window */
	FLOW_RESULT, /* its input is output number .output of the measurement */
	/*
	 * READ: the value of a partial aggregate with powers, and whether there are enough values:
	 * .stop. The optional second input is the partial CORRELATION of the values with the
	 * previous ones.
	 */
	FLOW_STOP,
	FLOW_PAIR, /* two inputs of one key: makes the partial aggregate .fold of this one pair */
	FLOW_CHOICE, /* VT: passes on tokens with the keys that .choice has */
	/* one input: makes a partial aggregate of this value and of the object that has it */
	FLOW_WHO,
	FLOW_NKINDS
};

/* A condition is 1 or 0; any value except 0 is true. */
enum flow_op {
	FLOW_OP_ADD,
	FLOW_OP_SUB,
	FLOW_OP_MUL,
	FLOW_OP_DIV,
	FLOW_OP_MOD,
	FLOW_OP_NEG,
	FLOW_OP_EQ,
	FLOW_OP_NE,
	FLOW_OP_LT,
	FLOW_OP_LE,
	FLOW_OP_GT,
	FLOW_OP_GE,
	FLOW_OP_AND,
	FLOW_OP_OR,
	FLOW_OP_NOT,
	FLOW_OP_IF, /* condition, then, else */
	FLOW_OP_WHERE, /* value, condition: if false, a token that sets ignore */
	FLOW_OP_TIME, /* time of the token: seconds of mainsm's clock */
	FLOW_OP_MIN, /* of two */
	FLOW_OP_MAX,
	FLOW_OP_ABS,
	FLOW_OP_FLOOR,
	FLOW_OP_CEIL,
	FLOW_OP_ROUND,
	FLOW_OP_SQRT,
	FLOW_OP_EXP,
	FLOW_OP_LOG,
	FLOW_OP_POW,
	FLOW_NOPS
};

enum flow_since { FLOW_SINCE_START, FLOW_SINCE_LAST };

enum flow_source_kind {
	FLOW_SOURCE_METRIC, /* a built-in metric of an object */
	/* VT: parameter .parameter of the probe, from 1 (0 is the virtual time) */
	FLOW_SOURCE_PARAMETER,
	FLOW_SOURCE_TIME, /* seconds of mainsm's time since the start */
	FLOW_SOURCE_EVENT, /* VT: the value 1 at each event of the probe */
	FLOW_NSOURCES
};

struct flow_names {
	const char *const *v;
	size_t n;
};

/*
 * Strings are "" if the kind does not have them. A source with a probe is in the VT domain, others
 * in READ.
 */
struct flow_source {
	enum flow_source_kind kind;
	const char *metric; /* such as "Send_volume" */
	const char *object; /* token of the measured object: p_1_..., n_1, s_1 */
	const char *probe; /* name of the probe that provides the values */
	const char *process; /* token of the process that executes the probe */
	uint32_t parameter;
	/*
	 * METRIC: values are counted from the measurement's start, so only measurements with the
	 * same start can share the source. False for differences, for which the start has no
	 * influence. TIME with a probe is then the host's own clock, without a bound for its
	 * distance from mainsm's.
	 */
	bool from_start;
	struct flow_names partners, regions; /* empty: all of them */
};

/*
 * Errors of totals by partners grow without limit, but the source knows the increase between two
 * reads more precisely. So such a value has the error of its difference to the previous value, and
 * only differences may be used.
 */
static inline bool flow_source_bounds_steps(const struct flow_source *s)
{
	return s->partners.n && !s->regions.n && !s->from_start && !s->probe[0];
}

struct flow_fold {
	enum agg_kind agg;
	double q; /* for kinds with agg_kind_has_share() */
	/*
	 * The output is a partial aggregate, which is merged elsewhere. Always so for HISTOGRAM and
	 * for kinds of objects.
	 */
	bool partial_out;
	enum flow_since since; /* for VT_AGG */
};

struct flow_link {
	const char *name; /* unique in the measurement */
	/* The other members are for a LINK_IN: properties of its other end. */
	enum flow_domain domain;
	bool partial; /* aggregates of fold.agg and fold.q */
	/*
	 * .since the last read: late batches are merged with the next one; plain values by .agg
	 * (SUM, MIN, MAX).
	 */
	struct flow_fold fold;
	uint32_t behind; /* number of contributors (processes, nodes) to its value */
};

struct flow_stop {
	enum agg_kind agg; /* kind of the result, which the aggregate must give: agg_gives() */
	double q; /* as in a fold */
	/*
	 * condition for enough values (stats/stop.h), without batches, which need a sequence of
	 * values
	 */
	const char *until;
};

struct flow_whose {
	struct flow_fold fold; /* of a kind with agg_kind_is_of_objects() */
	const char *object; /* token of a process, node or site */
};

struct flow_node {
	enum flow_kind kind;
	uint32_t line, col; /* position in the source text; 0: none */
	uint32_t window; /* keys that may be open in the VT domain; 0 = the default of the kind */
	const uint32_t *in; /* numbers of the input nodes */
	size_t nin;
	union {
		double constant;
		struct flow_source source;
		enum flow_op op;
		struct flow_fold fold; /* for SET, VT_AGG, PAIR */
		int64_t shift;
		bool per_second; /* DELTA: divide by the time between the two reads */
		enum flow_since since; /* for RATE */
		struct flow_link link;
		uint32_t output;
		struct flow_stop stop;
		struct flow_choice choice;
		struct flow_whose who;
	};

	/* Set by flow_graph_verify(): properties of the node's output. */
	enum flow_domain domain;
	bool partial;
	struct flow_fold gives; /* for a partial output: .agg and .q */
	uint32_t behind; /* number of contributors that the value should have */
	uint32_t depth; /* nodes on the longest path from a source */
	bool used;
};

/*
 * A DELTA must be directly above its source or LINK_IN, and below any SET. The sum of cumulative
 * values decreases when a host is lost, so that its difference would be wrong.
 */

struct flow_graph {
	uint32_t measurement; /* requester of the READ nodes; not 0 */
	struct flow_node *node;
	size_t nnode, nedge;
	size_t cap;
	struct arena *arena; /* owns inputs and strings */
};

/* --- construction */

/* Returns NULL without memory. */
struct flow_graph *flow_graph_new(uint32_t measurement);
void flow_graph_free(struct flow_graph *g);

/*
 * Copies the node with its inputs and texts; NULL becomes an empty text. Returns the number of the
 * node, or ERR_LIMIT beyond FLOW_NODES_MAX or FLOW_EDGES_MAX, ERR_NOMEM. Example: struct flow_node
 * n = { .kind = FLOW_OP, .op = FLOW_OP_SUB, .in = (uint32_t[]){ a, b }, .nin = 2 }; rc =
 * flow_graph_add(g, &n, &e);
 */
int flow_graph_add(struct flow_graph *g, const struct flow_node *n, struct err *e);

/* --- checks and costs */

/*
 * Checks everything that the engine relies on, and sets the outputs of nodes. Fails with
 * ERR_INVALID or ERR_LIMIT, "node N: ..." and the node's line and column, or with ERR_NOMEM. The
 * graph must then be freed. Limits: limits.h (FLOW_...) and graph_limits.h.
 */
int flow_graph_verify(struct flow_graph *g, struct err *e);

/* Returns the bytes of state that the engine needs for a verified graph. */
size_t flow_graph_state_bytes(const struct flow_graph *g);

/*
 * Returns how many node evaluations one token of the most expensive source causes in a verified
 * graph.
 */
size_t flow_graph_cost(const struct flow_graph *g);

/*
 * Returns how many keys may be open at a node in the VT domain: its window or the default of its
 * kind, as a power of two.
 */
uint32_t flow_node_window(const struct flow_node *n);

/*
 * Returns the window for links of the VT domain, if so many links end in one graph: their tokens
 * take half of FLOW_STATE_MAX_BYTES. 0: the default is sufficient.
 */
uint32_t flow_link_window(size_t links);

/* Returns the largest window for so many links that carry only values, within the same half. */
uint32_t flow_link_window_most(size_t links);

/* a name such as "vt_agg"; NULL for an unknown number */
const char *flow_kind_name(enum flow_kind kind);
const char *flow_op_name(enum flow_op op); /* a name such as "+", "if", "sqrt" */
size_t flow_op_arity(enum flow_op op);
const char *flow_source_name(enum flow_source_kind kind); /* "metric" */
const char *flow_domain_name(enum flow_domain domain); /* "any", "vt", "read" */
bool flow_kind_find(const char *name, enum flow_kind *out);
bool flow_op_find(const char *name, enum flow_op *out);
bool flow_source_find(const char *name, enum flow_source_kind *out);

/* --- as a value of the request language: ["flow",1,measurement,[[node],...]] */

/* Appends the text of a graph. b->failed reports a failure. */
void flow_graph_print(struct buf *b, const struct flow_graph *g);

/*
 * Parses an untrusted value: checks its form, then calls flow_graph_verify(). Fails with ERR_PARSE,
 * ERR_LIMIT, ERR_INVALID, ERR_NOMEM.
 */
int flow_graph_from_value(const struct omis_value *v, struct flow_graph **out, struct err *e);

#endif
