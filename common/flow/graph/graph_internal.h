/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of flow_graph_verify(), and what the engine shares with them. */
#ifndef COMMON_FLOW_GRAPH_GRAPH_INTERNAL_H
#define COMMON_FLOW_GRAPH_GRAPH_INTERNAL_H

#include "common/flow/graph/graph.h"
#include "common/base/err.h"

/* "node I: ..." with the place in the text; code is what err_set() returned. */
static inline int graph_refuse(const struct flow_graph *g, size_t i, int code, struct err *e)
{
	err_add(e, "node %zu", i);
	if (g->node[i].line)
		err_at(e, g->node[i].line, g->node[i].col);
	return code;
}

/* What the kind of node i demands of it and of its inputs; fills what it gives. */
int graph_rules(struct flow_graph *g, size_t i, struct err *e);

/* Depth, cost of an event and state of the whole. */
int graph_check_cost(struct flow_graph *g, struct err *e);

/* The text of one node, as in the value of a graph. */
void graph_print_node(struct buf *b, const struct flow_node *n);

#endif
