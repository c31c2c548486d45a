/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a graph: evaluations for one event, and bytes of state. */
#include "common/base/limits.h"
#include "common/flow/graph/graph_internal.h"
#include "common/flow/graph/graph_limits.h"
#include "common/flow/graph/match.h"

#include <stdlib.h>

_Static_assert(sizeof(union agg_room) <= FLOW_SKETCH_BYTES, "the verifier counts so much");

static int check_depth(struct flow_graph *g, size_t i, struct err *e)
{
	struct flow_node *n = &g->node[i];

	n->depth = 1;
	for (size_t k = 0; k < n->nin; k++)
		if (g->node[n->in[k]].depth >= n->depth)
			n->depth = g->node[n->in[k]].depth + 1;
	if (n->depth <= FLOW_DEPTH_MAX)
		return 0;
	return err_set(e, ERR_LIMIT, "%u nodes one above the other, %d are the limit",
		       (unsigned)n->depth, FLOW_DEPTH_MAX);
}

#define TOGETHER 64 /* sources that one walk through the graph examines: bits of a word */

struct sources {
	size_t node[TOGETHER], cost[TOGETHER];
	size_t n;
	uint64_t *reach; /* for each node: the sources that reach it */
};

/* Collects the sources from node `from` on. Returns the node to continue with. */
static size_t find_sources(const struct flow_graph *g, size_t from, struct sources *s)
{
	for (s->n = 0; from < g->nnode && s->n < TOGETHER; from++) {
		s->reach[from] = 0;
		if (g->node[from].nin || g->node[from].domain != FLOW_VT)
			continue;
		s->reach[from] = UINT64_C(1) << s->n;
		s->node[s->n] = from;
		s->cost[s->n++] = 1;
	}
	return from;
}

static void deliver(struct sources *s, uint64_t set, size_t to)
{
	s->reach[to] |= set;
	for (; set; set &= set - 1)
		s->cost[__builtin_ctzll(set)]++;
}

/*
 * Counts the deliveries that a token of each source causes before the reads: each edge between
 * nodes of the VT domain counts once, because a node fires once for a key.
 */
static void count_deliveries(const struct flow_graph *g, struct sources *s)
{
	for (size_t i = s->node[0] + 1; i < g->nnode; i++) {
		const struct flow_node *n = &g->node[i];

		for (size_t k = 0; k < n->nin; k++)
			if (n->in[k] >= s->node[0] && g->node[n->in[k]].domain == FLOW_VT)
				deliver(s, s->reach[n->in[k]], i);
	}
}

static size_t cost_of_worst(const struct flow_graph *g, uint64_t *reach, size_t *worst)
{
	struct sources s = { .reach = reach };
	size_t most = 0;

	for (size_t next = 0; next < g->nnode;) {
		next = find_sources(g, next, &s);
		for (size_t i = next; i < g->nnode; i++)
			reach[i] = 0;
		if (s.n)
			count_deliveries(g, &s);
		for (size_t k = 0; k < s.n; k++) {
			if (s.cost[k] <= most)
				continue;
			most = s.cost[k];
			*worst = s.node[k];
		}
	}
	return most;
}

size_t flow_graph_cost(const struct flow_graph *g)
{
	uint64_t *reached = calloc(g->nnode, sizeof(*reached));
	size_t worst, most = reached ? cost_of_worst(g, reached, &worst) : SIZE_MAX;

	free(reached);
	return most;
}

static int check_event(struct flow_graph *g, struct err *e)
{
	uint64_t *reached = calloc(g->nnode, sizeof(*reached));
	size_t worst = 0, most;
	int rc = 0;

	if (!reached)
		return err_nomem(e);
	most = cost_of_worst(g, reached, &worst);
	free(reached);
	if (most > FLOW_EVALS_PER_EVENT_MAX) {
		rc = err_set(e, ERR_LIMIT, "its event costs %zu evaluations, %d are the limit",
			     most, FLOW_EVALS_PER_EVENT_MAX);
		graph_refuse(g, worst, rc, e);
	}
	return rc;
}

static uint32_t window_default(const struct flow_node *n)
{
	bool link = n->kind == FLOW_LINK_IN || n->kind == FLOW_LINK_OUT;

	if (link)
		return n->partial && agg_kind_has_room(n->gives.agg) ? FLOW_WINDOW_SKETCH
								     : FLOW_WINDOW_LINK;
	if (n->kind == FLOW_SET)
		return agg_kind_has_room(n->fold.agg) ? FLOW_WINDOW_SKETCH : FLOW_WINDOW_SET;
	return FLOW_WINDOW_OP;
}

uint32_t flow_node_window(const struct flow_node *n)
{
	return match_round(n->window ? n->window : window_default(n));
}

uint32_t flow_link_window(size_t links)
{
	size_t fit = FLOW_STATE_MAX_BYTES / 2 / FLOW_PARTIAL_BYTES / (links ? links : 1);
	uint32_t window = FLOW_WINDOW_LINK;

	if (fit >= window)
		return 0;
	while (window > fit && window > 1)
		window /= 2;
	return window;
}

uint32_t flow_link_window_most(size_t links)
{
	size_t fit = FLOW_STATE_MAX_BYTES / 2 / FLOW_TOKEN_BYTES / (links ? links : 1);
	uint32_t window = FLOW_WINDOW_MAX;

	while (window > fit && window > 1)
		window /= 2;
	return window;
}

/* Returns the bytes of one value that the node emits or folds. */
static size_t value_bytes(bool partial, enum agg_kind agg)
{
	if (!partial)
		return FLOW_TOKEN_BYTES;
	return FLOW_PARTIAL_BYTES + (agg_kind_has_room(agg) ? FLOW_SKETCH_BYTES : 0);
}

static size_t set_bytes(const struct flow_node *n)
{
	size_t one = value_bytes(true, n->fold.agg) + FLOW_KEY_BYTES + (n->nin + 63) / 64 * 8;

	return n->domain == FLOW_VT ? one * flow_node_window(n) + n->nin * FLOW_KEY_BYTES : one;
}

/*
 * Inputs of one key are stored until all have arrived. With a single input that varies, there is no
 * waiting.
 */
static size_t op_bytes(const struct flow_graph *g, const struct flow_node *n)
{
	size_t one = FLOW_KEY_BYTES + n->nin * FLOW_TOKEN_BYTES, varying = 0;

	for (size_t k = 0; k < n->nin; k++)
		varying += g->node[n->in[k]].domain == FLOW_VT;
	return varying > 1 ? one * flow_node_window(n) + n->nin * FLOW_KEY_BYTES : one;
}

static size_t link_bytes(const struct flow_node *n)
{
	size_t one = value_bytes(n->partial, n->gives.agg);

	if (n->domain == FLOW_VT)
		return one * flow_node_window(n);
	return n->kind == FLOW_LINK_IN ? one * FLOW_READS_OPEN : one;
}

static size_t node_bytes(const struct flow_graph *g, const struct flow_node *n)
{
	switch (n->kind) {
	case FLOW_SET:
		return set_bytes(n);
	case FLOW_OP:
		return op_bytes(g, n);
	case FLOW_PAIR:
		return op_bytes(g, n) + value_bytes(true, n->fold.agg);
	case FLOW_WHO:
		return op_bytes(g, n) + value_bytes(true, n->who.fold.agg);
	case FLOW_VT_AGG: /* keys of this interval, of the next one, and of all */
		return 3 * value_bytes(true, n->fold.agg);
	case FLOW_LINK_IN:
	case FLOW_LINK_OUT:
		return link_bytes(n);
	case FLOW_STOP:
		return FLOW_RULE_BYTES;
	case FLOW_CHOICE:
		return n->choice.n * sizeof(*n->choice.v);
	default:
		return 2 * FLOW_TOKEN_BYTES;
	}
}

size_t flow_graph_state_bytes(const struct flow_graph *g)
{
	size_t bytes = 0;

	for (size_t i = 0; i < g->nnode; i++)
		bytes += node_bytes(g, &g->node[i]);
	return bytes;
}

static int check_state(const struct flow_graph *g, struct err *e)
{
	size_t bytes = 0;

	for (size_t i = 0; i < g->nnode; i++) {
		bytes += node_bytes(g, &g->node[i]);
		if (bytes > FLOW_STATE_MAX_BYTES)
			return graph_refuse(g, i,
					    err_set(e, ERR_LIMIT,
						    "with it %zu bytes of state, %d are the limit",
						    bytes, FLOW_STATE_MAX_BYTES),
					    e);
	}
	return 0;
}

int graph_check_cost(struct flow_graph *g, struct err *e)
{
	int rc;

	for (size_t i = 0; i < g->nnode; i++) {
		rc = check_depth(g, i, e);
		if (rc)
			return graph_refuse(g, i, rc, e);
	}
	rc = check_event(g, e);
	return rc ? rc : check_state(g, e);
}
