/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/plan/bound.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"

#include <stdlib.h>
#include <string.h>

int bound_init(struct bound *b, const struct world *w)
{
	memset(b, 0, sizeof(*b));
	b->world = w;
	map_init(&b->twins);
	b->arena = arena_new(BOUND_HEAP_MAX_BYTES);
	return b->arena ? 0 : -ERR_NOMEM;
}

void bound_done(struct bound *b)
{
	map_done(&b->twins);
	arena_free(b->arena);
	free(b->node);
}

bool place_equal(struct place a, struct place b)
{
	bool has_object = a.kind == PLACE_NODE || a.kind == PLACE_SITE;

	return a.kind == b.kind && (!has_object || a.object == b.object);
}

struct place place_of(const struct world *w, uint32_t object)
{
	uint32_t node = world_node(w, object), site = world_site(w, object);

	if (node != WORLD_NONE)
		return (struct place){ PLACE_NODE, node };
	if (site != WORLD_NONE)
		return (struct place){ PLACE_SITE, site };
	return (struct place){ PLACE_TOP, 0 };
}

/* Returns the nearest place that both places can send to. */
static struct place place_join(const struct world *w, struct place a, struct place b)
{
	uint32_t sa, sb;

	if (a.kind == PLACE_ANYWHERE || place_equal(a, b))
		return b;
	if (b.kind == PLACE_ANYWHERE)
		return a;
	if (a.kind == PLACE_TOP || b.kind == PLACE_TOP)
		return (struct place){ PLACE_TOP, 0 };
	sa = world_site(w, a.object);
	sb = world_site(w, b.object);
	if (sa == sb && sa != WORLD_NONE)
		return (struct place){ PLACE_SITE, sa };
	return (struct place){ PLACE_TOP, 0 };
}

bool place_is_below(const struct world *w, struct place at, struct place than)
{
	if (than.kind == PLACE_TOP)
		return at.kind == PLACE_NODE || at.kind == PLACE_SITE;
	return than.kind == PLACE_SITE && at.kind == PLACE_NODE &&
	       world_site(w, at.object) == than.object;
}

struct place place_step_down(const struct world *w, struct place at, struct place top)
{
	uint32_t site;

	if (at.kind != PLACE_NODE || top.kind == PLACE_SITE)
		return at;
	site = world_site(w, at.object);
	return site == WORLD_NONE ? at : (struct place){ PLACE_SITE, site };
}

/* --- equal nodes */

uint64_t bound_hash_mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(1099511628211);
}

uint64_t bound_hash_text(uint64_t h, const char *s)
{
	for (; s && *s; s++)
		h = bound_hash_mix(h, (unsigned char)*s);
	return bound_hash_mix(h, 0);
}

static uint64_t mix_double(uint64_t h, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bound_hash_mix(h, bits);
}

static uint64_t mix_names(uint64_t h, const struct flow_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		h = bound_hash_text(h, names->v[i]);
	return h;
}

static uint64_t mix_source(uint64_t h, const struct flow_source *s)
{
	h = bound_hash_text(bound_hash_text(bound_hash_mix(h, s->kind), s->metric), s->object);
	h = bound_hash_text(bound_hash_text(h, s->probe), s->process);
	h = bound_hash_mix(bound_hash_mix(h, s->parameter), s->from_start);
	return mix_names(mix_names(h, &s->partners), &s->regions);
}

static uint64_t mix_choice(uint64_t h, const struct flow_choice *c)
{
	for (size_t i = 0; i < c->n; i++)
		h = bound_hash_mix(bound_hash_mix(bound_hash_mix(h, c->v[i].kind), c->v[i].op),
				   (uint64_t)c->v[i].number);
	return h;
}

uint64_t bound_hash_own(const struct flow_node *n)
{
	uint64_t h = bound_hash_mix(UINT64_C(14695981039346656037), n->kind);

	switch (n->kind) {
	case FLOW_CONST:
		return mix_double(h, n->constant);
	case FLOW_INPUT:
		return mix_source(h, &n->source);
	case FLOW_OP:
		return bound_hash_mix(h, n->op);
	case FLOW_SET:
	case FLOW_VT_AGG:
	case FLOW_PAIR:
		return mix_double(bound_hash_mix(bound_hash_mix(bound_hash_mix(h, n->fold.agg),
								n->fold.partial_out),
						 n->fold.since),
				  n->fold.q);
	case FLOW_WHO:
		return bound_hash_text(
			mix_double(bound_hash_mix(h, n->who.fold.agg), n->who.fold.q),
			n->who.object);
	case FLOW_SHIFT:
		return bound_hash_mix(h, (uint64_t)n->shift);
	case FLOW_CHOICE:
		return mix_choice(h, &n->choice);
	case FLOW_DELTA:
		return bound_hash_mix(h, n->per_second);
	case FLOW_RATE:
		return bound_hash_mix(h, n->since);
	case FLOW_RESULT:
		return bound_hash_mix(h, n->output);
	case FLOW_STOP:
		return bound_hash_text(mix_double(bound_hash_mix(h, n->stop.agg), n->stop.q),
				       n->stop.until);
	default:
		return h;
	}
}

static uint64_t hash(const struct flow_node *n)
{
	uint64_t h = bound_hash_own(n);

	for (size_t i = 0; i < n->nin; i++)
		h = bound_hash_mix(h, n->in[i]);
	return h;
}

static bool names_equal(const struct flow_names *a, const struct flow_names *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (!str_eq(a->v[i], b->v[i]))
			return false;
	return a->n == b->n;
}

static bool sources_equal(const struct flow_source *a, const struct flow_source *b)
{
	return a->kind == b->kind && str_eq(a->metric, b->metric) && str_eq(a->object, b->object) &&
	       str_eq(a->probe, b->probe) && str_eq(a->process, b->process) &&
	       a->parameter == b->parameter && a->from_start == b->from_start &&
	       names_equal(&a->partners, &b->partners) && names_equal(&a->regions, &b->regions);
}

static bool what_is_equal(const struct flow_node *a, const struct flow_node *b)
{
	switch (a->kind) {
	case FLOW_CONST:
		return !memcmp(&a->constant, &b->constant, sizeof(a->constant));
	case FLOW_INPUT:
		return sources_equal(&a->source, &b->source);
	case FLOW_OP:
		return a->op == b->op;
	case FLOW_SET:
	case FLOW_VT_AGG:
	case FLOW_PAIR:
		return a->fold.agg == b->fold.agg && a->fold.partial_out == b->fold.partial_out &&
		       a->fold.since == b->fold.since &&
		       !memcmp(&a->fold.q, &b->fold.q, sizeof(a->fold.q));
	case FLOW_WHO:
		return a->who.fold.agg == b->who.fold.agg &&
		       !memcmp(&a->who.fold.q, &b->who.fold.q, sizeof(a->who.fold.q)) &&
		       str_eq(a->who.object, b->who.object);
	case FLOW_SHIFT:
		return a->shift == b->shift;
	case FLOW_CHOICE:
		return choice_equal(&a->choice, &b->choice);
	case FLOW_DELTA:
		return a->per_second == b->per_second;
	case FLOW_RATE:
		return a->since == b->since;
	case FLOW_STOP:
		return a->stop.agg == b->stop.agg &&
		       !memcmp(&a->stop.q, &b->stop.q, sizeof(a->stop.q)) &&
		       str_eq(a->stop.until, b->stop.until);
	default:
		return a->output == b->output;
	}
}

static bool is_equal(const struct flow_node *a, const struct flow_node *b)
{
	return a->kind == b->kind && a->nin == b->nin &&
	       (!a->nin || !memcmp(a->in, b->in, a->nin * sizeof(*a->in))) && what_is_equal(a, b);
}

/* --- the result of a node */

static void add_input(struct bound *b, struct bound_node *v, const struct bound_node *in)
{
	struct flow_node *n = &v->n;

	v->place = place_join(b->world, v->place, in->place);
	if (in->n.domain != FLOW_ANY)
		n->domain = in->n.domain;
	if (n->kind == FLOW_SET)
		n->behind += in->n.behind;
	else if (in->n.behind > n->behind)
		n->behind = in->n.behind;
	if (n->kind == FLOW_SHIFT || n->kind == FLOW_CHOICE || n->kind == FLOW_RESULT) {
		n->partial = in->n.partial;
		n->gives = in->n.gives;
	}
}

static void conclude(struct bound *b, struct bound_node *v, const struct place *at)
{
	struct flow_node *n = &v->n;

	v->place = at ? *at : (struct place){ PLACE_ANYWHERE, 0 };
	n->domain = FLOW_ANY;
	n->behind = 0;
	if (n->kind == FLOW_INPUT) {
		n->domain = n->source.probe && *n->source.probe ? FLOW_VT : FLOW_READ;
		n->behind = 1;
	}
	for (size_t i = 0; i < n->nin; i++)
		add_input(b, v, b->node[n->in[i]]);
	if (n->kind == FLOW_SET || n->kind == FLOW_VT_AGG || n->kind == FLOW_PAIR) {
		n->partial = n->fold.partial_out;
		n->gives = n->fold;
	}
	if (n->kind == FLOW_WHO) {
		n->partial = true;
		n->gives = n->who.fold;
	}
	if (n->kind == FLOW_VT_AGG)
		n->domain = FLOW_READ;
	/* A DELTA stays with its source even when the graph is central. */
	if (n->kind == FLOW_RESULT || (b->is_central && n->nin && n->kind != FLOW_DELTA))
		v->place = (struct place){ PLACE_TOP, 0 };
}

static bool copy_inputs(struct bound *b, struct flow_node *n)
{
	uint32_t *in = arena_array(b->arena, n->nin, sizeof(*in));

	if (in && n->nin)
		memcpy(in, n->in, n->nin * sizeof(*in));
	n->in = in;
	return in != NULL;
}

static bool copy_choice(struct bound *b, struct flow_node *n)
{
	struct choice_word *v;

	if (n->kind != FLOW_CHOICE)
		return true;
	v = arena_array(b->arena, n->choice.n, sizeof(*v));
	if (v && n->choice.n)
		memcpy(v, n->choice.v, n->choice.n * sizeof(*v));
	n->choice.v = v;
	return v != NULL;
}

static int append(struct bound *b, const struct flow_node *n, const struct place *at,
		  struct bound_node **out)
{
	struct bound_node *v;
	int rc = array_grow(&b->node, &b->cap, b->n + 1, sizeof(*b->node), BOUND_NODES_MAX);

	v = rc ? NULL : arena_alloc(b->arena, sizeof(*v));
	if (!v)
		return rc ? rc : -ERR_NOMEM;
	v->n = *n;
	if (!copy_inputs(b, &v->n) || !copy_choice(b, &v->n))
		return -ERR_NOMEM;
	v->id = (uint32_t)b->n;
	conclude(b, v, at);
	b->node[b->n++] = v;
	*out = v;
	return 0;
}

int bound_put(struct bound *b, const struct flow_node *n, const struct place *at, uint32_t *out)
{
	uint64_t h = hash(n);
	struct bound_node *first = map_find(&b->twins, h), *v;
	int rc;

	for (v = first; v; v = v->twin)
		if (is_equal(&v->n, n)) {
			*out = v->id;
			return 0;
		}
	rc = append(b, n, at, &v);
	if (rc)
		return rc;
	v->twin = first;
	*out = v->id;
	return map_put(&b->twins, h, v, NULL);
}

void bound_mark(struct bound *b)
{
	for (size_t i = b->n; i-- > 0;) {
		struct bound_node *v = b->node[i];

		v->is_live |= v->n.kind == FLOW_RESULT;
		for (size_t k = 0; k < v->n.nin && v->is_live; k++)
			b->node[v->n.in[k]]->is_live = true;
	}
}
