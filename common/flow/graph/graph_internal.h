/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of flow_graph_verify(), and declarations that the engine uses, too. */
#ifndef COMMON_FLOW_GRAPH_GRAPH_INTERNAL_H
#define COMMON_FLOW_GRAPH_GRAPH_INTERNAL_H

#include "common/flow/graph/graph.h"
#include "common/base/err.h"

/* Writes "node I: ..." with the position in the source text; code is the result of err_set(). */
static inline int graph_refuse(const struct flow_graph *g, size_t i, int code, struct err *e)
{
	err_add(e, "node %zu", i);
	if (g->node[i].line)
		err_at(e, g->node[i].line, g->node[i].col);
	return code;
}

/* Checks the rules for node i's kind and its inputs, and sets its output. */
int graph_rules(struct flow_graph *g, size_t i, struct err *e);

/* Checks depth, the cost of an event, and the state of all nodes. */
int graph_check_cost(struct flow_graph *g, struct err *e);

/* Writes the text of one node, in the form of a graph's value. */
void graph_print_node(struct buf *b, const struct flow_node *n);

#endif
