/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the request of a tool: arguments, combinations of them, outputs. */
#include "pmsl/plan/binding.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"

#include <stdlib.h>
#include <string.h>

/* Ranks of a job are adjacent; processes without a rank follow, in the order of the world. */
static int compare_processes(const void *x, const void *y, void *arg)
{
	const struct world *w = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct world_object *a = &w->v[i], *c = &w->v[k];

	if (a->job != c->job)
		return a->job < c->job ? -1 : 1;
	if (a->rank != c->rank)
		return (uint64_t)a->rank < (uint64_t)c->rank ? -1 : 1;
	return i < k ? -1 : 1;
}

/* Lists all objects of the world by kind: variables run over these lists. */
static int list_all(struct binder *b)
{
	const struct world *w = b->b->world;

	for (enum pmsl_kind k = PMSL_T_PROCESS; k <= PMSL_T_SITE; k++) {
		b->all[k] = arena_array(b->arena, w->n, sizeof(uint32_t));
		if (!b->all[k])
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < w->n; i++)
		b->all[w->v[i].kind][b->nall[w->v[i].kind]++] = (uint32_t)i;
	if (b->nall[PMSL_T_PROCESS])
		qsort_r(b->all[PMSL_T_PROCESS], b->nall[PMSL_T_PROCESS], sizeof(uint32_t),
			compare_processes, (void *)(uintptr_t)w);
	return 0;
}

static int check_kinds(struct binder *b, const struct pmsl_decl *d, const uint32_t *v, size_t n)
{
	const struct world *w = b->b->world;

	for (size_t i = 0; i < n; i++)
		if (v[i] >= w->n || w->v[v[i]].kind < d->type.kind)
			return bind_fail(b, NULL, -ERR_INVALID, "%s of %s is a %s: %s is none",
					 d->name, b->g->metric->name, pmsl_kind_name(d->type.kind),
					 v[i] < w->n ? w->v[v[i]].token : "one");
	return 0;
}

static int check_objects(struct binder *b, const struct pmsl_decl *d, const struct bind_arg *a)
{
	int rc = check_kinds(b, d, a->object, a->nobject);

	if (!rc)
		rc = check_kinds(b, d, a->without, a->nwithout);
	if (rc || a->nobject)
		return rc;
	return bind_fail(b, NULL, -ERR_INVALID, "there is no %s to measure",
			 pmsl_kind_name(d->type.kind));
}

enum mark { UNMARKED, MARKED_IN, MARKED_OUT };

/* Returns the decision of the nearest mark; without one, is_all. */
static bool is_chosen(const struct world *w, const uint8_t *mark, uint32_t object, bool is_all)
{
	for (; object != WORLD_NONE; object = w->v[object].parent)
		if (mark[object] != UNMARKED)
			return mark[object] == MARKED_IN;
	return is_all;
}

static bool any_counts_calls(const struct binder *b)
{
	for (size_t i = 0; i < b->g->n; i++)
		if (bind_counts_calls(b, &b->g->node[i]))
			return true;
	return false;
}

static int no_object(struct binder *b, enum pmsl_kind kind, const struct bind_arg *a, bool by_calls)
{
	if (a->nwithout)
		return bind_fail(b, NULL, -ERR_INVALID,
				 "nothing would be left to measure: all is taken away");
	return bind_fail(b, NULL, -ERR_INVALID, "there is no %s%s in what is to be measured",
			 pmsl_kind_name(kind), by_calls ? " that makes MPI calls" : "");
}

/*
 * A node or site instead of processes means all of them; duplicates are removed. If calls are
 * counted, processes without MPI are excluded unless they are named.
 */
static int expand(struct binder *b, enum pmsl_kind kind, struct bind_arg *a)
{
	const struct world *w = b->b->world;
	uint32_t *v = arena_array(b->arena, b->nall[kind], sizeof(*v));
	uint8_t *mark = arena_array(b->arena, w->n, sizeof(*mark));
	bool by_calls = kind == PMSL_T_PROCESS && any_counts_calls(b);
	size_t n = 0;

	if (!v || !mark)
		return -ERR_NOMEM;
	for (size_t i = 0; a->is_given && i < a->nobject; i++)
		mark[a->object[i]] = MARKED_IN;
	for (size_t i = 0; i < a->nwithout; i++)
		mark[a->without[i]] = MARKED_OUT;
	for (size_t i = 0; i < b->nall[kind]; i++)
		if (is_chosen(w, mark, b->all[kind][i], !a->is_given) &&
		    !(by_calls && w->v[b->all[kind][i]].is_alone &&
		      mark[b->all[kind][i]] != MARKED_IN))
			v[n++] = b->all[kind][i];
	if (!n)
		return no_object(b, kind, a, by_calls);
	a->object = v;
	a->nobject = n;
	return 0;
}

static int take_arg(struct binder *b, const struct pmsl_decl *d)
{
	struct bind_arg *a = &b->arg[d->position];
	int rc;

	*a = b->options->arg[d->position];
	if (pmsl_is_object(d->type.kind)) {
		if (!a->is_given) {
			a->object = b->all[d->type.kind];
			a->nobject = b->nall[d->type.kind];
		}
		rc = check_objects(b, d, a);
		return rc ? rc : expand(b, d->type.kind, a);
	}
	if (d->type.kind == PMSL_T_VT && d->type.dims && !a->nvt)
		return bind_fail(b, NULL, -ERR_INVALID, "%s of %s has no virtual times", d->name,
				 b->g->metric->name);
	if (d->type.kind == PMSL_T_VALUE && !a->is_given)
		return bind_fail(b, NULL, -ERR_INVALID, "%s of %s has no value", d->name,
				 b->g->metric->name);
	if (d->type.kind == PMSL_T_REGION && a->nregion > b->all_regions.n)
		b->all_regions = (struct flow_names){ a->region, a->nregion };
	return 0;
}

/* --- combinations: one object for each parameter that takes a single object */

struct combination {
	struct bind_arg list[PMSL_PARAMS_MAX]; /* values to choose from */
	uint32_t chosen[PMSL_PARAMS_MAX];
	uint32_t *node; /* nodes of the values; owned */
	size_t n, cap;
	struct known constant;
};

static const struct dag_node *root(const struct binder *b)
{
	return &b->g->node[b->g->root];
}

/* If the request names virtual times, restricts the value to them. */
static int choose_wanted(struct binder *b, struct known *v)
{
	const struct pmsl_decl *d = b->g->metric->time;
	const struct bind_arg *a = d ? &b->arg[d->position] : NULL;
	struct known vt, of = { .kind = KNOWN_OBJECTS }, choice;
	int rc;

	if (!a || d->type.kind != PMSL_T_VT || !a->nvt)
		return 0;
	of.vt = a->vt;
	of.nvt = a->nvt;
	rc = bind_choice_vt(b, 0, &vt);
	if (!rc)
		rc = bind_choice_in(b, root(b), &vt, &of, &choice);
	return rc ? rc : bind_choose(b, choice.choice, v);
}

static int evaluate(struct binder *b, struct combination *c)
{
	struct known v;
	int rc;

	bind_forget(b);
	rc = bind_eval(b, b->g->root, &v);
	if (!rc)
		rc = choose_wanted(b, &v);
	if (rc)
		return rc;
	if (!b->left)
		return bind_fail(b, NULL, -ERR_LIMIT, "more than %d combinations of objects",
				 BIND_COMBINATIONS_MAX);
	b->left--;
	c->constant = v;
	if (v.kind == KNOWN_NUMBER)
		return 0;
	rc = array_grow(&c->node, &c->cap, c->n + 1, sizeof(*c->node), BOUND_NODES_MAX);
	if (!rc)
		c->node[c->n++] = v.node;
	return rc;
}

static int combine(struct binder *b, struct combination *c, const struct pmsl_decl *d)
{
	struct bind_arg *a;
	int rc = 0;

	while (d && (d->type.dims || !pmsl_is_object(d->type.kind)))
		d = d->next;
	if (!d)
		return evaluate(b, c);
	a = &b->arg[d->position];
	c->list[d->position] = *a;
	for (size_t i = 0; i < c->list[d->position].nobject && !rc; i++) {
		c->chosen[d->position] = c->list[d->position].object[i];
		a->object = &c->chosen[d->position];
		a->nobject = 1;
		rc = combine(b, c, d->next);
	}
	*a = c->list[d->position];
	return rc;
}

/* --- one output */

static int put_rate(struct binder *b, struct known *v)
{
	uint32_t from = v->node;
	struct flow_node n = {
		.kind = FLOW_RATE, .since = b->options->since, .in = &from, .nin = 1
	};

	if (!b->options->per_second || v->kind != KNOWN_NODE)
		return 0;
	if (b->b->node[from]->n.domain != FLOW_READ || b->b->node[from]->n.partial)
		return bind_fail(b, root(b), -ERR_INVALID,
				 "only a number for each read is divided by time");
	return bind_put(b, root(b), &n, NULL, v);
}

static int put_result(struct binder *b, struct known *v, uint32_t output, uint32_t *node)
{
	uint32_t from;
	struct flow_node n = { .kind = FLOW_RESULT, .output = output, .in = &from, .nin = 1 };
	struct known made;
	int rc = put_rate(b, v);

	if (!rc)
		rc = bind_node(b, root(b), v, &from);
	if (!rc)
		rc = bind_put(b, root(b), &n, NULL, &made);
	if (!rc)
		*node = made.node;
	return rc;
}

static struct flow_fold usual_fold(const struct binder *b)
{
	enum agg_kind usual = dag_is_extensive(b->g) ? AGG_SUM : AGG_MEAN;

	return (struct flow_fold){ .agg = b->options->has_agg ? b->options->agg : usual };
}

static int put_output(struct binder *b, uint32_t output, struct bind_output *out)
{
	struct combination c = { .node = NULL };
	struct flow_fold fold = usual_fold(b);
	struct known v;
	int rc = combine(b, &c, b->g->metric->param);

	v = c.constant;
	if (!rc && c.n > 1 && b->b->node[c.node[0]]->n.partial)
		fold = b->b->node[c.node[0]]->n.gives;
	if (!rc && c.n > 1)
		rc = bind_set(b, root(b), &fold, (struct node_list){ c.node, c.n }, &v);
	if (!rc)
		rc = put_result(b, &v, output, &out->node);
	free(c.node);
	return rc;
}

/* --- one output for each partner or region */

static int put_next(struct binder *b, struct bind_outputs *o, const struct bind_output *about)
{
	size_t k = o->n;

	if (k == BIND_OUTPUTS_MAX)
		return bind_fail(b, NULL, -ERR_LIMIT, "more than %d outputs", BIND_OUTPUTS_MAX);
	o->n++;
	o->v[k] = *about;
	return put_output(b, (uint32_t)k, &o->v[k]);
}

/* Returns the parameter for partners or regions. */
static struct bind_arg *each_arg(struct binder *b, enum bind_each each)
{
	enum pmsl_kind kind = each == BIND_EACH_REGION ? PMSL_T_REGION : PMSL_T_PROCESS;
	bool is_first = true;

	for (const struct pmsl_decl *d = b->g->metric->param; d; d = d->next) {
		/* The first objects are the processes that communicate. */
		if (d->type.kind == kind && (kind == PMSL_T_REGION || !is_first))
			return &b->arg[d->position];
		if (pmsl_is_object(d->type.kind))
			is_first = false;
	}
	return NULL;
}

static struct bind_arg *first_objects(struct binder *b)
{
	for (const struct pmsl_decl *d = b->g->metric->param; d; d = d->next)
		if (pmsl_is_object(d->type.kind))
			return &b->arg[d->position];
	return NULL;
}

/*
 * True if the process may be a partner: partners belong to one job. Objects that are not processes
 * have all partners.
 */
static bool may_be_partner(struct binder *b, uint32_t partner)
{
	const struct world_object *v = b->b->world->v;
	const struct bind_arg *a = first_objects(b);

	for (size_t i = 0; i < a->nobject; i++)
		if (v[a->object[i]].kind != PMSL_T_PROCESS || v[a->object[i]].job == v[partner].job)
			return true;
	return false;
}

static int put_each_of(struct binder *b, enum bind_each each, struct bind_outputs *o,
		       struct bind_output *about);

/* Puts the outputs of one partner: one for all regions, or one for each. */
static int put_partner(struct binder *b, struct bind_outputs *o, struct bind_output *about)
{
	return b->options->each == BIND_EACH_BOTH ? put_each_of(b, BIND_EACH_REGION, o, about)
						  : put_next(b, o, about);
}

static int put_partners(struct binder *b, struct bind_arg *arg, struct bind_outputs *o,
			struct bind_output *about)
{
	const struct bind_arg list = *arg;
	int rc = 0;

	for (size_t i = 0; i < list.nobject && !rc; i++) {
		if (!may_be_partner(b, list.object[i]))
			continue;
		about->partner = list.object[i];
		arg->object = &about->partner;
		arg->nobject = 1;
		rc = put_partner(b, o, about);
	}
	*arg = list;
	return rc;
}

static int put_regions(struct binder *b, struct bind_arg *arg, struct bind_outputs *o,
		       struct bind_output *about)
{
	const struct bind_arg list = *arg;
	int rc = 0;

	if (!list.nregion)
		return bind_fail(b, NULL, -ERR_INVALID, "by which regions is it split? Name them");
	for (size_t i = 0; i < list.nregion && !rc; i++) {
		arg->region = &list.region[i];
		arg->nregion = 1;
		about->region = arena_copy(b->b->arena, list.region[i], strlen(list.region[i]));
		rc = about->region ? put_next(b, o, about) : -ERR_NOMEM;
	}
	*arg = list;
	return rc;
}

static int put_each_of(struct binder *b, enum bind_each each, struct bind_outputs *o,
		       struct bind_output *about)
{
	struct bind_arg *arg = each_arg(b, each);

	if (!arg)
		return bind_fail(b, NULL, -ERR_INVALID, "%s has no %s to split it by",
				 b->g->metric->name,
				 each == BIND_EACH_REGION ? "regions" : "partners");
	return each == BIND_EACH_REGION ? put_regions(b, arg, o, about)
					: put_partners(b, arg, o, about);
}

static int put_each(struct binder *b, struct bind_outputs *o, uint32_t object)
{
	struct bind_output about = { .object = object, .partner = WORLD_NONE };

	if (b->options->each == BIND_EACH_NOTHING)
		return put_next(b, o, &about);
	return put_each_of(
		b, b->options->each == BIND_EACH_BOTH ? BIND_EACH_PARTNER : b->options->each, o,
		&about);
}

/* --- outputs: one, or one for each object of the first list */

const enum pmsl_kind bind_by_kind[] = {
	[BIND_BY_PROCESS] = PMSL_T_PROCESS,
	[BIND_BY_NODE] = PMSL_T_NODE,
	[BIND_BY_SITE] = PMSL_T_SITE,
};

static uint32_t group_of(const struct binder *b, uint32_t object)
{
	if (b->options->by == BIND_BY_NODE)
		return world_node(b->b->world, object);
	return b->options->by == BIND_BY_SITE ? world_site(b->b->world, object) : object;
}

struct grouping {
	struct bind_arg *arg, list; /* the argument that changes, and the objects to choose from */
	uint32_t *chosen;
	struct bind_outputs *out;
};

static void choose(const struct binder *b, struct grouping *g, uint32_t group)
{
	g->arg->object = g->chosen;
	g->arg->nobject = 0;
	for (size_t i = 0; i < g->list.nobject; i++)
		if (group_of(b, g->list.object[i]) == group)
			g->chosen[g->arg->nobject++] = g->list.object[i];
}

static int put_group(struct binder *b, struct grouping *g, uint32_t group)
{
	choose(b, g, group);
	return g->arg->nobject ? put_each(b, g->out, group) : 0;
}

static int put_groups(struct binder *b, struct bind_outputs *out)
{
	struct grouping g = { .arg = first_objects(b), .out = out };
	int rc = 0;

	if (!g.arg || bind_by_kind[b->options->by] < b->b->world->v[g.arg->object[0]].kind)
		return bind_fail(b, NULL, -ERR_INVALID, "%s has no objects to split it by so",
				 b->g->metric->name);
	g.list = *g.arg;
	g.chosen = arena_array(b->arena, g.list.nobject, sizeof(*g.chosen));
	if (!g.chosen)
		return -ERR_NOMEM;
	for (size_t i = 0; i < b->nall[bind_by_kind[b->options->by]] && !rc; i++)
		rc = put_group(b, &g, b->all[bind_by_kind[b->options->by]][i]);
	return rc;
}

static int bind_all(struct binder *b, struct bind_outputs *out)
{
	int rc = list_all(b);

	if (!rc)
		rc = bind_prepare(b);
	for (const struct pmsl_decl *d = b->g->metric->param; d && !rc; d = d->next)
		rc = take_arg(b, d);
	if (rc || b->options->by != BIND_BY_NOTHING)
		return rc ? rc : put_groups(b, out);
	return put_each(b, out, WORLD_NONE);
}

int bind_metric(const struct dag *g, const struct bind_options *options, struct bound *bound,
		struct pmsl_diags *d, struct bind_outputs *out)
{
	struct binder b = { .g = g,
			    .options = options,
			    .b = bound,
			    .d = d,
			    .process = WORLD_NONE,
			    .left = BIND_COMBINATIONS_MAX };
	struct bind_outputs made = { .v = arena_array(bound->arena, BIND_OUTPUTS_MAX,
						      sizeof(*made.v)) };
	int rc = -ERR_NOMEM;

	bound->is_central = options->is_central;
	b.arena = arena_new(BOUND_HEAP_MAX_BYTES);
	map_init(&b.remembered);
	map_init(&b.chosen);
	if (b.arena && made.v)
		rc = bind_all(&b, &made);
	map_done(&b.remembered);
	map_done(&b.chosen);
	arena_free(b.arena);
	if (rc)
		return rc;
	bound_mark(bound);
	*out = made;
	return 0;
}
