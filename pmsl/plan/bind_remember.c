/* SPDX-License-Identifier: Apache-2.0 */
/* Caches evaluated nodes, so that they are not evaluated again. */
#include "pmsl/plan/binding.h"

#include "common/base/str.h"
#include "common/omis/text/arena.h"

struct remembered {
	uint32_t node, process;
	const char *probe;
	uint32_t *run; /* values of the variables that are free in the node, in order */
	struct known known;
	struct remembered *next;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(1099511628211);
}

static uint64_t hash(const struct binder *b, uint32_t node)
{
	uint64_t h = mix(UINT64_C(14695981039346656037), node), set = b->g->node[node].free;

	h = mix(mix(h, b->process), (uintptr_t)b->probe);
	for (unsigned i = 0; set >> i && i < PMSL_VARIABLES_MAX; i++)
		if (set >> i & 1)
			h = mix(h, b->run[i]);
	return h;
}

static bool fits(const struct binder *b, const struct remembered *r, uint32_t node)
{
	uint64_t set = b->g->node[node].free;
	unsigned k = 0;

	if (r->node != node || r->process != b->process || !str_eq(r->probe, b->probe))
		return false;
	for (unsigned i = 0; i < b->g->nvariable; i++)
		if (set >> i & 1 && r->run[k++] != b->run[i])
			return false;
	return true;
}

const struct known *bind_recall(const struct binder *b, uint32_t node)
{
	if (!b->is_remembered[node])
		return NULL;
	for (const struct remembered *r = map_find(&b->remembered, hash(b, node)); r; r = r->next)
		if (fits(b, r, node))
			return &r->known;
	return NULL;
}

static int remember(struct binder *b, uint32_t node, const struct known *known)
{
	uint64_t h = hash(b, node), set = b->g->node[node].free;
	struct remembered *r = arena_alloc(b->arena, sizeof(*r));
	unsigned k = 0;

	if (!r)
		return -ERR_NOMEM;
	r->node = node;
	r->process = b->process;
	r->probe = b->probe;
	r->known = *known;
	r->run = arena_array(b->arena, (size_t)__builtin_popcountll(set), sizeof(*r->run));
	if (!r->run)
		return -ERR_NOMEM;
	for (unsigned i = 0; i < b->g->nvariable; i++)
		if (set >> i & 1)
			r->run[k++] = b->run[i];
	r->next = map_find(&b->remembered, h);
	return map_put(&b->remembered, h, r, NULL);
}

int bind_remember(struct binder *b, uint32_t node, const struct known *known)
{
	return b->is_remembered[node] ? remember(b, node, known) : 0;
}

/* Leaves cost less than a search in the cache. */
static bool is_leaf(const struct dag_node *n)
{
	return n->kind <= DAG_VT || n->kind == DAG_TIMES;
}

/* Returns the set of variables that run over objects or regions. Virtual times do not run. */
static uint64_t that_run(const struct dag *g)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < g->nvariable; i++)
		if (g->variable[i].kind != PMSL_T_VT)
			set |= UINT64_C(1) << i;
	return set;
}

/*
 * A node with one reader and all variables set is not cached: it is evaluated once for each of
 * their values. Most nodes of a template are such, and caching would cost more than evaluating
 * them.
 */
static void note_remembered(struct binder *b, bool *is_read)
{
	const struct dag *g = b->g;
	uint64_t run = that_run(g);

	for (uint32_t i = 0; i < g->n; i++) {
		const struct dag_node *n = &g->node[i];

		for (unsigned k = 0; k < n->nin; k++) {
			uint32_t in = n->in[k];

			b->is_remembered[in] |= is_read[in] || (g->node[in].free & run) !=
								       ((n->free | n->bound) & run);
			is_read[in] = true;
		}
	}
	for (uint32_t i = 0; i < g->n; i++)
		b->is_remembered[i] &= !is_leaf(&g->node[i]);
}

int bind_choose_remembered(struct binder *b)
{
	bool *is_read = arena_array(b->arena, b->g->n, sizeof(*is_read));

	b->is_remembered = arena_array(b->arena, b->g->n, sizeof(*b->is_remembered));
	if (!is_read || !b->is_remembered)
		return -ERR_NOMEM;
	note_remembered(b, is_read);
	return 0;
}
