/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the tree of a metric to its template. */
#include "pmsl/plan/dag.h"
#include "pmsl/plan/dag_node.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/container/map.h"

#include <stdlib.h>
#include <string.h>

/* The meaning of a name in the current expression. */
struct meaning {
	const struct pmsl_metric *metric; /* owner of the text */
	const struct pmsl_decl *decl; /* NULL at the end of the list */
	uint32_t node;
	const struct meaning *next;
};

/* A built node: a metric or a variable with these arguments. */
struct built {
	const void *what;
	uint32_t arg[PMSL_PARAMS_MAX + PMSL_INDICES_MAX], node;
	unsigned narg;
	struct built *next;
};

struct builder {
	struct dag *g;
	bool shared;
	struct pmsl_diags *d;
	struct map nodes; /* hash -> struct twin, chained */
	struct map built; /* hash -> struct built, chained */
	struct arena *arena;
	uint64_t running; /* variables that enclosing folds bind */
	unsigned depth;
	/*
	 * use of a metric of another text, which is the position of all errors there; NULL = this
	 * text
	 */
	const struct pmsl_expr *outer;
	int rc;
};

struct twin {
	uint32_t node;
	struct twin *next;
};

#define NOTHING UINT32_MAX

static uint32_t build(struct builder *b, const struct pmsl_expr *e, const struct meaning *m);

static uint32_t fail(struct builder *b, const struct pmsl_expr *e, const char *words)
{
	if (!b->rc) {
		e = b->outer ? b->outer : e;
		pmsl_error(b->d, e->at, e->len, "%s", words);
		b->rc = -ERR_LIMIT;
	}
	return NOTHING;
}

static uint32_t fail_nomem(struct builder *b)
{
	b->rc = -ERR_NOMEM;
	return NOTHING;
}

/* Returns the variables that n and its inputs use and that n does not bind. */
static uint64_t free_in(const struct dag *g, const struct dag_node *n)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < n->nin; i++)
		set |= g->node[n->in[i]].free;
	if (n->kind == DAG_VARIABLE || n->kind == DAG_VT)
		set |= UINT64_C(1) << n->variable;
	return set & ~n->bound;
}

static uint32_t append(struct builder *b, const struct pmsl_expr *e, const struct dag_node *n)
{
	struct dag *g = b->g;

	if (array_grow(&g->node, &g->cap, g->n + 1, sizeof(*g->node), DAG_NODES_MAX) == -ERR_LIMIT)
		return fail(b, e, "the metric becomes too large: more than 4096 expressions");
	if (g->cap <= g->n)
		return fail_nomem(b);
	g->node[g->n] = *n;
	g->node[g->n].free = free_in(g, n);
	return (uint32_t)g->n++;
}

/* Adds the node, or returns an equal one. */
static uint32_t put(struct builder *b, const struct pmsl_expr *e, struct dag_node *n)
{
	uint64_t h = dag_node_hash(n);
	struct twin *first = b->shared ? map_find(&b->nodes, h) : NULL, *t;
	uint32_t made;

	if (b->rc)
		return NOTHING;
	n->at = b->outer ? b->outer->at : e->at;
	n->len = b->outer ? b->outer->len : e->len;
	for (t = first; t; t = t->next)
		if (dag_node_is_equal(&b->g->node[t->node], n))
			return t->node;
	made = append(b, e, n);
	if (made == NOTHING || !b->shared)
		return made;
	t = arena_alloc(b->arena, sizeof(*t));
	if (!t || map_put(&b->nodes, h, t, NULL))
		return fail_nomem(b);
	t->node = made;
	t->next = first;
	return made;
}

static struct dag_node blank(enum dag_kind kind, struct pmsl_type type)
{
	return (struct dag_node){ .kind = kind,
				  .type = type,
				  .builtin = -1,
				  .objects = -1,
				  .partners = -1,
				  .regions = -1 };
}

/* Builds the arguments of e in order. Returns false after a failure. */
static bool build_args(struct builder *b, const struct pmsl_expr *e, const struct meaning *m,
		       struct dag_node *n)
{
	for (const struct pmsl_expr *a = e->arg; a; a = a->next) {
		if (n->nin == DAG_INPUTS_MAX)
			return fail(b, e, "too many arguments") != NOTHING;
		n->in[n->nin] = build(b, a, m);
		if (n->in[n->nin++] == NOTHING)
			return false;
	}
	return true;
}

/* --- cache of built nodes by arguments: a metric may use another one many times */

static uint64_t hash_built(const struct built *k)
{
	uint64_t h = dag_mix(UINT64_C(14695981039346656037), (uintptr_t)k->what);

	for (unsigned i = 0; i < k->narg; i++)
		h = dag_mix(h, k->arg[i]);
	return h;
}

static uint32_t find_built(const struct builder *b, const struct built *k)
{
	const struct built *f = b->shared ? map_find(&b->built, hash_built(k)) : NULL;

	for (; f; f = f->next)
		if (f->what == k->what && f->narg == k->narg &&
		    !memcmp(f->arg, k->arg, k->narg * sizeof(k->arg[0])))
			return f->node;
	return NOTHING;
}

static uint32_t keep_built(struct builder *b, const struct built *k, uint32_t node)
{
	uint64_t h = hash_built(k);
	struct built *copy;

	if (!b->shared || node == NOTHING)
		return node;
	copy = arena_alloc(b->arena, sizeof(*copy));
	if (!copy)
		return fail_nomem(b);
	*copy = *k;
	copy->node = node;
	copy->next = map_find(&b->built, h);
	return map_put(&b->built, h, copy, NULL) ? fail_nomem(b) : node;
}

/* --- names */

static uint32_t find_meaning(const struct meaning *m, const struct pmsl_decl *d)
{
	for (; m; m = m->next)
		if (m->decl == d)
			return m->node;
	return NOTHING;
}

/* x[p][vt-1]: builds the value of x, with these values of its indices. */
static uint32_t build_variable(struct builder *b, const struct pmsl_expr *e,
			       const struct meaning *m)
{
	struct meaning index[PMSL_INDICES_MAX];
	struct built key = { .what = e->decl };
	const struct pmsl_names *name = e->decl->index;
	const struct meaning *outer = m;
	uint32_t node;

	for (const struct pmsl_expr *a = e->arg; a && name; a = a->next, name = name->next) {
		index[key.narg] = (struct meaning){ m->metric, name->decl, build(b, a, m), outer };
		if (index[key.narg].node == NOTHING)
			return NOTHING;
		key.arg[key.narg] = index[key.narg].node;
		outer = &index[key.narg++];
	}
	/* The value depends on its indices and on the parameters of the metric. */
	for (; m; m = m->next)
		if (m->decl && m->decl->kind == PMSL_D_PARAM)
			key.arg[key.narg++] = m->node;
	node = find_built(b, &key);
	return node != NOTHING ? node : keep_built(b, &key, build(b, e->decl->value, outer));
}

static uint32_t build_context(struct builder *b, const struct pmsl_expr *e)
{
	struct dag_node n = blank(DAG_CONTEXT, e->type);

	n.name = e->decl->probe->name;
	n.param = e->decl->position;
	return put(b, e, &n);
}

static uint32_t build_name(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	struct dag_node n = blank(DAG_SPAN, e->type);

	n.op = 3;
	if (!e->decl)
		return put(b, e, &n); /* NOW */
	if (e->decl->kind == PMSL_D_PROBE_PARAM)
		return build_context(b, e);
	if (e->decl->value)
		return build_variable(b, e, m);
	return find_meaning(m, e->decl);
}

/* --- folds */

static bool find_variable(struct builder *b, const struct pmsl_decl *d, unsigned instance,
			  uint32_t *out)
{
	struct dag *g = b->g;

	for (*out = 0; *out < g->nvariable; ++*out)
		if (g->variable[*out].decl == d && g->variable[*out].instance == instance)
			return true;
	if (g->nvariable == PMSL_VARIABLES_MAX)
		return false;
	g->variable[g->nvariable++] = (struct dag_variable){ d, instance, d->type.kind };
	return true;
}

/*
 * An enclosing fold may run over the same variable in its arguments: then this one gets a separate
 * number.
 */
static bool start_variable(struct builder *b, const struct pmsl_expr *e, const struct pmsl_decl *d,
			   struct meaning *m, uint64_t *bound)
{
	struct dag_node n = blank(d->type.kind == PMSL_T_VT ? DAG_VT : DAG_VARIABLE, d->type);
	unsigned instance = 0;

	do {
		if (!find_variable(b, d, instance++, &n.variable))
			return fail(b, e, "the metric runs over more than 64 variables") != NOTHING;
	} while (b->running >> n.variable & 1);
	n.name = d->name;
	*bound |= UINT64_C(1) << n.variable;
	b->running |= UINT64_C(1) << n.variable;
	m->decl = d;
	m->node = put(b, e, &n);
	return m->node != NOTHING;
}

/* Returns the next declaration of a variable that the fold binds (in e->bound), and moves *s on. */
static const struct pmsl_decl *next_bound(const struct pmsl_stmt **s, uint64_t bound)
{
	for (; *s; *s = (*s)->next) {
		const struct pmsl_decl *d = (*s)->kind == PMSL_S_DECLARE ? (*s)->decl : NULL;

		if (d && d->kind == PMSL_D_VARIABLE && d->number >= 0 && bound >> d->number & 1) {
			*s = (*s)->next;
			return d;
		}
	}
	return NULL;
}

#define FOLD_VARIABLES_MAX 8

static uint32_t build_run(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	const struct pmsl_stmt *stmts = m->metric->stmt;
	struct meaning run[FOLD_VARIABLES_MAX];
	struct dag_node n = blank(DAG_FOLD, e->type);
	const struct pmsl_expr *value = e->arg;
	const struct pmsl_decl *d;
	unsigned k = 0;

	while ((d = next_bound(&stmts, e->bound))) {
		if (k == FOLD_VARIABLES_MAX)
			return fail(b, e, "a fold runs over more than 8 variables at once");
		run[k].metric = m->metric;
		run[k].next = m;
		if (!start_variable(b, e, d, &run[k], &n.bound))
			return NOTHING;
		m = &run[k++];
	}
	if (pmsl_fold_has_share(e->op)) {
		n.number = value->number;
		value = value->next;
	}
	n.op = e->op;
	n.in[n.nin++] = build(b, value, m);
	if (e->where && !b->rc)
		n.in[n.nin++] = build(b, e->where, m);
	return b->rc ? NOTHING : put(b, e, &n);
}

static uint32_t build_fold(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	uint64_t running = b->running;
	struct dag_node n = blank(DAG_LIST, e->type);
	uint32_t node;

	if (!e->bound) {
		n.op = e->op;
		return build_args(b, e, m, &n) ? put(b, e, &n) : NOTHING;
	}
	node = build_run(b, e, m);
	b->running = running;
	return node;
}

/* --- metrics */

static uint32_t build_metric(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	struct meaning param[PMSL_PARAMS_MAX + 1];
	struct built key = { .what = e->metric };
	const struct pmsl_decl *d = e->metric->param;
	bool enters = e->metric->is_elsewhere && !b->outer;
	uint32_t node;

	param[0] = (struct meaning){ .metric = e->metric };
	for (const struct pmsl_expr *a = e->arg; a && d; a = a->next, d = d->next) {
		uint32_t arg = build(b, a, m);

		if (arg == NOTHING)
			return NOTHING;
		key.arg[key.narg++] = arg;
		param[key.narg] = (struct meaning){ e->metric, d, arg, &param[key.narg - 1] };
	}
	node = find_built(b, &key);
	if (node != NOTHING)
		return node;
	if (enters)
		b->outer = e;
	node = build(b, e->metric->result, &param[key.narg]);
	if (enters)
		b->outer = NULL;
	return keep_built(b, &key, node);
}

static void sort_inputs(const struct dag *g, struct dag_node *n)
{
	for (unsigned i = 0; i + 1 < n->nin; i++) {
		enum pmsl_kind kind = g->node[n->in[i]].type.kind;

		if (kind == PMSL_T_REGION)
			n->regions = (int8_t)i;
		else if (n->objects < 0)
			n->objects = (int8_t)i;
		else
			n->partners = (int8_t)i;
	}
}

static uint32_t build_call(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	struct dag_node n = blank(e->builtin >= 0 ? DAG_METRIC : DAG_FUNCTION, e->type);

	if (e->metric)
		return build_metric(b, e, m);
	if (!build_args(b, e, m, &n))
		return NOTHING;
	n.name = e->name;
	n.builtin = e->builtin;
	n.op = e->builtin >= 0 ? 0 : (uint8_t)e->function;
	if (e->builtin >= 0)
		sort_inputs(b->g, &n);
	return put(b, e, &n);
}

/* Builds e AT probe(p, vt). */
static uint32_t build_at(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	struct dag_node probe = blank(DAG_PROBE, (struct pmsl_type){ 0 }),
			n = blank(DAG_AT, e->type);

	probe.name = e->name;
	n.in[0] = build(b, e->arg, m);
	probe.in[0] = b->rc ? NOTHING : build(b, e->arg->next, m);
	probe.in[1] = b->rc ? NOTHING : build(b, e->arg->next->next, m);
	if (b->rc)
		return NOTHING;
	probe.nin = n.nin = 2;
	n.in[1] = put(b, e, &probe);
	return b->rc ? NOTHING : put(b, e, &n);
}

/* Builds vt - 1. */
static uint32_t build_shift(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	uint32_t vt = build(b, e->arg, m);
	struct dag_node n;

	if (vt == NOTHING)
		return NOTHING;
	n = b->g->node[vt];
	n.shift += e->shift - e->arg->shift;
	if (n.shift > 1000000000)
		return fail(b, e, "a virtual time so far back is not stored");
	return put(b, e, &n);
}

static uint32_t build_plain(struct builder *b, const struct pmsl_expr *e, const struct meaning *m,
			    enum dag_kind kind)
{
	struct dag_node n = blank(kind, e->type);

	n.op = e->op;
	if (kind == DAG_NUMBER)
		n.number = e->number;
	if (kind == DAG_ATTR || kind == DAG_REGION)
		n.name = e->name;
	return build_args(b, e, m, &n) ? put(b, e, &n) : NOTHING;
}

/* Builds [START,NOW]: the interval's .op has both ends, and NOW has no node. */
static uint32_t build_interval(struct builder *b, const struct pmsl_expr *e)
{
	struct dag_node n = blank(DAG_SPAN, e->type);

	n.op = e->op;
	return put(b, e, &n);
}

/* Builds vt IN [10, 20] as vt >= 10 AND vt <= 20. */
static uint32_t build_range(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	const struct pmsl_expr *end[2] = { e->arg->next->arg, e->arg->next->arg->next };
	struct dag_node n = blank(DAG_OP, e->type);
	uint32_t vt = build(b, e->arg, m);

	n.op = PMSL_AND;
	for (unsigned i = 0; i < 2 && !b->rc; i++) {
		struct dag_node half = blank(DAG_OP, e->type);

		half.op = i ? PMSL_LE : PMSL_GE;
		half.in[half.nin++] = vt;
		half.in[half.nin++] = build(b, end[i], m);
		n.in[n.nin++] = b->rc ? NOTHING : put(b, e, &half);
	}
	return b->rc ? NOTHING : put(b, e, &n);
}

static uint32_t build_in(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	struct dag_node n = blank(DAG_TIMES, e->type);

	if (e->type.kind == PMSL_T_CHOICE && e->arg->next->kind == PMSL_E_INTERVAL)
		return build_range(b, e, m);
	if (e->arg->type.kind != PMSL_T_TIME)
		return build_plain(b, e, m, DAG_IN);
	n.in[n.nin++] = build(b, e->arg->next, m);
	return b->rc ? NOTHING : put(b, e, &n);
}

static uint32_t build_kind(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	switch (e->kind) {
	case PMSL_E_NUMBER:
		return build_plain(b, e, m, DAG_NUMBER);
	case PMSL_E_REGION:
		return build_plain(b, e, m, DAG_REGION);
	case PMSL_E_NAME:
		return build_name(b, e, m);
	case PMSL_E_CALL:
		return build_call(b, e, m);
	case PMSL_E_FOLD:
		return build_fold(b, e, m);
	case PMSL_E_ATTR:
		return build_plain(b, e, m, DAG_ATTR);
	case PMSL_E_INTERVAL:
		return build_interval(b, e);
	case PMSL_E_OP:
		return e->type.kind == PMSL_T_VT ? build_shift(b, e, m)
						 : build_plain(b, e, m, DAG_OP);
	case PMSL_E_IN:
		return build_in(b, e, m);
	case PMSL_E_AT:
		return build_at(b, e, m);
	case PMSL_E_IF:
		return build_plain(b, e, m, DAG_IF);
	case PMSL_E_PAIR:
		return build_plain(b, e, m, DAG_PAIR);
	}
	return NOTHING;
}

static uint32_t build(struct builder *b, const struct pmsl_expr *e, const struct meaning *m)
{
	uint32_t node;

	if (b->rc)
		return NOTHING;
	if (b->depth == DAG_DEPTH_MAX)
		return fail(b, e, "expressions and metrics are nested too deep");
	b->depth++;
	node = build_kind(b, e, m);
	b->depth--;
	return node;
}

/* Adds the metric's own parameters, which a tool sets for a measurement. */
static uint32_t put_param(struct builder *b, const struct pmsl_decl *d)
{
	const struct pmsl_expr e = { .at = d->at, .len = d->len };
	struct dag_node n = blank(DAG_PARAM, d->type);

	n.name = d->name;
	n.param = d->position;
	if (d->type.kind == PMSL_T_INTERVAL) {
		n.kind = DAG_SPAN;
		n.op = DAG_AS_MEASURED;
	} else if (d->type.kind == PMSL_T_TIME) {
		n.kind = DAG_SPAN;
		n.op = DAG_NOW;
	} else if (d->type.kind == PMSL_T_VT && !d->type.dims) {
		n.kind = DAG_VT;
		if (!find_variable(b, d, 0, &n.variable))
			return NOTHING;
		b->g->vt = (int)n.variable;
		b->running |= UINT64_C(1) << n.variable;
	}
	return put(b, &e, &n);
}

static void build_all(struct builder *b, const struct pmsl_metric *metric)
{
	struct meaning param[PMSL_PARAMS_MAX + 1];
	unsigned k = 0;

	param[0] = (struct meaning){ .metric = metric };
	for (const struct pmsl_decl *d = metric->param; d && !b->rc; d = d->next, k++)
		param[k + 1] = (struct meaning){ metric, d, put_param(b, d), &param[k] };
	b->g->root = build(b, metric->result, &param[k]);
}

int dag_build(const struct pmsl_metric *m, bool shared, struct pmsl_diags *d, struct dag **out)
{
	struct builder b = { .shared = shared, .d = d, .arena = arena_new(PMSL_HEAP_MAX_BYTES) };

	b.g = calloc(1, sizeof(*b.g));
	map_init(&b.nodes);
	map_init(&b.built);
	if (b.g && b.arena) {
		b.g->metric = m;
		b.g->vt = -1;
		build_all(&b, m);
	} else {
		b.rc = -ERR_NOMEM;
	}
	map_done(&b.nodes);
	map_done(&b.built);
	arena_free(b.arena);
	if (b.rc)
		dag_free(b.g);
	else
		*out = b.g;
	return b.rc;
}

void dag_free(struct dag *g)
{
	if (g)
		free(g->node);
	free(g);
}
