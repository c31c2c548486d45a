/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of flow_graph_verify(), and declarations shared with the engine. */
#ifndef COMMON_FLOW_GRAPH_GRAPH_INTERNAL_H
#define COMMON_FLOW_GRAPH_GRAPH_INTERNAL_H

#include "common/flow/graph/graph.h"
#include "common/base/err.h"

/* Writes "node I: ..." with the position in the text; code is the result of err_set(). */
static inline int graph_refuse(const struct flow_graph *g, size_t i, int code, struct err *e)
{
	err_add(e, "node %zu", i);
	if (g->node[i].line)
		err_at(e, g->node[i].line, g->node[i].col);
	return code;
}

/* Checks the rules of node i's kind and of its inputs; sets its output. */
int graph_rules(struct flow_graph *g, size_t i, struct err *e);

/* Checks depth, cost of an event and total state. */
int graph_check_cost(struct flow_graph *g, struct err *e);

/* Writes the text of one node, as in the value of a graph. */
void graph_print_node(struct buf *b, const struct flow_node *n);

#endif
