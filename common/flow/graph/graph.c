/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/graph/graph.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/flow/graph/graph_limits.h"
#include "common/omis/text/arena.h"

#include <stdlib.h>
#include <string.h>

struct flow_graph *flow_graph_new(uint32_t measurement)
{
	struct flow_graph *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->measurement = measurement;
	g->arena = arena_new(FLOW_TEXT_MAX_BYTES);
	if (!g->arena) {
		free(g);
		return NULL;
	}
	return g;
}

void flow_graph_free(struct flow_graph *g)
{
	if (!g)
		return;
	arena_free(g->arena);
	free(g->node);
	free(g);
}

static bool keep_text(struct arena *a, const char **text)
{
	*text = arena_copy(a, *text ? *text : "", *text ? strlen(*text) : 0);
	return *text;
}

static bool keep_names(struct arena *a, struct flow_names *names)
{
	const char **v = arena_array(a, names->n, sizeof(*v));

	if (!v)
		return false;
	for (size_t i = 0; i < names->n; i++) {
		v[i] = names->v[i];
		if (!keep_text(a, &v[i]))
			return false;
	}
	names->v = v;
	return true;
}

static bool keep_choice(struct arena *a, struct flow_choice *c)
{
	struct choice_word *v = arena_array(a, c->n, sizeof(*v));

	if (v && c->n)
		memcpy(v, c->v, c->n * sizeof(*v));
	c->v = v;
	return v != NULL;
}

static bool keep_texts(struct arena *a, struct flow_node *n)
{
	struct flow_source *s = &n->source;

	if (n->kind == FLOW_LINK_IN || n->kind == FLOW_LINK_OUT)
		return keep_text(a, &n->link.name);
	if (n->kind == FLOW_STOP)
		return keep_text(a, &n->stop.until);
	if (n->kind == FLOW_CHOICE)
		return keep_choice(a, &n->choice);
	if (n->kind == FLOW_WHO)
		return keep_text(a, &n->who.object);
	if (n->kind != FLOW_INPUT)
		return true;
	return keep_text(a, &s->metric) && keep_text(a, &s->object) && keep_text(a, &s->probe) &&
	       keep_text(a, &s->process) && keep_names(a, &s->partners) &&
	       keep_names(a, &s->regions);
}

static bool keep_inputs(struct arena *a, struct flow_node *n)
{
	uint32_t *in = arena_array(a, n->nin, sizeof(*in));

	if (!in)
		return false;
	for (size_t i = 0; i < n->nin; i++)
		in[i] = n->in[i];
	n->in = in;
	return true;
}

int flow_graph_add(struct flow_graph *g, const struct flow_node *n, struct err *e)
{
	struct flow_node kept = *n;
	int rc;

	if (g->nnode >= FLOW_NODES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d nodes", FLOW_NODES_MAX);
	if (n->nin > FLOW_EDGES_MAX - g->nedge)
		return err_set(e, ERR_LIMIT, "more than %d edges", FLOW_EDGES_MAX);
	if (n->kind == FLOW_INPUT &&
	    (n->source.partners.n > FLOW_NAMES_MAX || n->source.regions.n > FLOW_NAMES_MAX))
		return err_set(e, ERR_LIMIT, "more than %d partners or regions", FLOW_NAMES_MAX);
	if (n->kind == FLOW_CHOICE && n->choice.n > CHOICE_WORDS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d words in a choice", CHOICE_WORDS_MAX);
	rc = array_grow(&g->node, &g->cap, g->nnode + 1, sizeof(*g->node), FLOW_NODES_MAX);
	if (rc || !keep_inputs(g->arena, &kept) || !keep_texts(g->arena, &kept))
		return err_nomem(e);
	g->nedge += n->nin;
	g->node[g->nnode] = kept;
	return (int)g->nnode++;
}
