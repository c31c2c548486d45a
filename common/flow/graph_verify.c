/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/limits.h"
#include "common/flow/graph_internal.h"
#include "common/flow/graph_limits.h"

#include <string.h>

int graph_refuse(const struct flow_graph *g, size_t i, int code, struct err *e)
{
	err_add(e, "node %zu", i);
	if (g->node[i].line)
		err_at(e, g->node[i].line, g->node[i].col);
	return code;
}

/* What nobody reads does work for nothing; a compiler leaves it out. */
static bool gives_nothing(const struct flow_node *n)
{
	return n->kind == FLOW_RESULT || n->kind == FLOW_LINK_OUT;
}

static int check_inputs(struct flow_graph *g, size_t i, struct err *e)
{
	const struct flow_node *n = &g->node[i];

	if (n->nin > FLOW_INPUTS_MAX)
		return err_set(e, ERR_LIMIT, "%zu inputs, %d are the limit", n->nin,
			       FLOW_INPUTS_MAX);
	for (size_t k = 0; k < n->nin; k++) {
		if (n->in[k] >= i)
			return err_set(e, ERR_INVALID,
				       "input %zu is node %u, which does not come before it", k,
				       (unsigned)n->in[k]);
		if (gives_nothing(&g->node[n->in[k]]))
			return err_set(e, ERR_INVALID, "input %zu is node %u, which gives nothing",
				       k, (unsigned)n->in[k]);
		g->node[n->in[k]].used = true;
	}
	return 0;
}

static int check_node(struct flow_graph *g, size_t i, struct err *e)
{
	int rc;

	if (!flow_kind_name(g->node[i].kind))
		rc = err_set(e, ERR_INVALID, "kind %u is none", (unsigned)g->node[i].kind);
	else if (g->node[i].window > FLOW_WINDOW_MAX)
		rc = err_set(e, ERR_LIMIT, "a window of %u keys, %d are the limit",
			     (unsigned)g->node[i].window, FLOW_WINDOW_MAX);
	else
		rc = check_inputs(g, i, e);
	if (!rc)
		rc = graph_rules(g, i, e);
	return rc ? graph_refuse(g, i, rc, e) : 0;
}

/* Two ends of one name, or two results of one number, in this graph. */
static bool are_twins(const struct flow_node *a, const struct flow_node *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == FLOW_RESULT)
		return a->output == b->output;
	return (a->kind == FLOW_LINK_IN || a->kind == FLOW_LINK_OUT) &&
	       !strcmp(a->link.name, b->link.name);
}

static int check_twins(const struct flow_graph *g, size_t i, struct err *e)
{
	enum flow_kind kind = g->node[i].kind;

	if (kind != FLOW_RESULT && kind != FLOW_LINK_IN && kind != FLOW_LINK_OUT)
		return 0;
	for (size_t k = 0; k < i; k++)
		if (are_twins(&g->node[k], &g->node[i]))
			return err_set(e, ERR_INVALID, "node %zu is the same %s already", k,
				       flow_kind_name(kind));
	return 0;
}

static int check_whole(struct flow_graph *g, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < g->nnode && !rc; i++) {
		if (!g->node[i].used && !gives_nothing(&g->node[i]))
			rc = err_set(e, ERR_INVALID, "nobody reads it");
		else
			rc = check_twins(g, i, e);
		if (rc)
			return graph_refuse(g, i, rc, e);
	}
	return graph_check_cost(g, e);
}

int flow_graph_verify(struct flow_graph *g, struct err *e)
{
	int rc = 0;

	if (!g->measurement)
		return err_set(e, ERR_INVALID, "a graph of no measurement");
	if (!g->nnode)
		return err_set(e, ERR_INVALID, "a graph without nodes");
	for (size_t i = 0; i < g->nnode; i++)
		g->node[i].used = false;
	for (size_t i = 0; i < g->nnode && !rc; i++)
		rc = check_node(g, i, e);
	return rc ? rc : check_whole(g, e);
}
