/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/limits.h"
#include "common/container/map.h"
#include "common/flow/graph/graph_internal.h"
#include "common/flow/graph/graph_limits.h"

/* True for a node without readers, which would be useless: the compiler makes none. */
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

/*
 * Keys that must be unique in a graph: names of links in and of links out, numbers of outputs. The
 * values are nodes.
 */
struct names {
	struct smap in, out;
	struct map outputs;
};

static int put_name(struct names *t, struct flow_node *n, struct flow_node **twin)
{
	void *old = NULL;
	int rc = 0;

	if (n->kind == FLOW_RESULT)
		rc = map_put(&t->outputs, n->output, n, &old);
	else if (n->kind == FLOW_LINK_IN)
		rc = smap_put(&t->in, n->link.name, n, &old);
	else if (n->kind == FLOW_LINK_OUT)
		rc = smap_put(&t->out, n->link.name, n, &old);
	*twin = old;
	return rc;
}

static int check_use(struct flow_graph *g, struct names *t, size_t i, struct err *e)
{
	struct flow_node *n = &g->node[i], *twin;

	if (!n->used && !gives_nothing(n))
		return err_set(e, ERR_INVALID, "it has no reader");
	if (put_name(t, n, &twin))
		return err_nomem(e);
	if (twin)
		return err_set(e, ERR_INVALID, "node %zu is the same %s already",
			       (size_t)(twin - g->node), flow_kind_name(n->kind));
	return 0;
}

static int check_whole(struct flow_graph *g, struct err *e)
{
	struct names t;
	int rc = 0;

	smap_init(&t.in);
	smap_init(&t.out);
	map_init(&t.outputs);
	for (size_t i = 0; i < g->nnode && !rc; i++) {
		rc = check_use(g, &t, i, e);
		if (rc)
			rc = graph_refuse(g, i, rc, e);
	}
	smap_done(&t.in);
	smap_done(&t.out);
	map_done(&t.outputs);
	return rc ? rc : graph_check_cost(g, e);
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
