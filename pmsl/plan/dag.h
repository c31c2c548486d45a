/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A metric as a graph of its expressions, before the objects are known: the template of its
 * measurements. The metrics that it uses are part of it. A shared one has each common subexpression
 * once. Inputs of a node have lower numbers than the node.
 */
#ifndef PMSL_PLAN_DAG_H
#define PMSL_PLAN_DAG_H

#include "pmsl/text/diag.h"
#include "pmsl/text/tree.h"

/* a daemon accepts a thousand: larger templates make graphs that are refused */
#define DAG_NODES_MAX 4096
/* of nested expressions and metrics, because the builder recurses */
#define DAG_DEPTH_MAX 1500
#define DAG_INPUTS_MAX (PMSL_PARAMS_MAX + 2)

enum dag_kind {
	DAG_NUMBER,
	DAG_PARAM, /* a parameter of the metric, which is objects, regions or a number: .param */
	DAG_SPAN, /* an interval: .op is an enum dag_span */
	DAG_VARIABLE, /* runs over objects or regions: .variable */
	DAG_VT, /* a virtual time: .variable, .shift earlier */
	/* a built-in metric; .objects .partners .regions are indexes of inputs, -1 = none */
	DAG_METRIC,
	DAG_CONTEXT, /* parameter .param of the probe .name */
	DAG_PROBE, /* .name; inputs: process and virtual time */
	DAG_AT, /* inputs: value, probe */
	DAG_ATTR, /* .name: rank, node, site, time */
	DAG_REGION, /* .name: a constant */
	DAG_OP, /* .op: enum pmsl_op */
	DAG_IF,
	DAG_PAIR, /* two values, over which a fold of pairs runs */
	DAG_FUNCTION, /* .op: an index of pmsl_function_get() */
	DAG_LIST, /* .op: enum pmsl_fold, over its inputs */
	DAG_IN, /* inputs: one object, and a list of objects */
	DAG_TIMES, /* x[vt].time IN t: the span of an aggregate over virtual time */
	DAG_FOLD, /* .op: enum pmsl_fold, over .bound; inputs: value, and an optional condition */
	DAG_KINDS
};

enum dag_span {
	DAG_SINCE_START, /* [START,NOW] */
	DAG_SINCE_LAST, /* [LAST,NOW] */
	DAG_AS_MEASURED, /* the parameter of the metric */
	DAG_NOW, /* no interval */
};

struct dag_node {
	enum dag_kind kind;
	uint8_t op;
	uint32_t at, len; /* position in the text */
	double number; /* NUMBER; FOLD: its share or level */
	const char *name;
	int builtin;
	int8_t objects, partners, regions;
	uint32_t param;
	uint32_t variable;
	int64_t shift;
	uint64_t bound, free; /* sets of variables */
	struct pmsl_type type;
	uint32_t in[DAG_INPUTS_MAX];
	unsigned nin;
};

struct dag_variable {
	const struct pmsl_decl *decl;
	unsigned instance; /* distinguishes nested uses of one variable */
	enum pmsl_kind kind;
};

/* Points into the tree, which must outlive it. */
struct dag {
	const struct pmsl_metric *metric;
	struct dag_node *node;
	size_t n, cap;
	uint32_t root;
	struct dag_variable variable[PMSL_VARIABLES_MAX];
	unsigned nvariable;
	int vt; /* the variable of the metric's own parameter of virtual time, -1 = none */
};

/*
 * Builds the template of a metric that is_good. Without `shared` each use has its own nodes, as in
 * the text: for drawings. -ERR_LIMIT (with an error in d), -ERR_NOMEM.
 */
int dag_build(const struct pmsl_metric *m, bool shared, struct pmsl_diags *d, struct dag **out);
void dag_free(struct dag *g);

/*
 * True if the value grows with the number of objects: volumes, counts, delays and their sums. Other
 * metrics are averaged over many objects.
 */
bool dag_is_extensive(const struct dag *g);

/* Writes "Send_volume", "MAX", "p.rank": the name of the node in drawings. */
void dag_label(const struct dag *g, const struct dag_node *n, struct buf *b);

#endif
