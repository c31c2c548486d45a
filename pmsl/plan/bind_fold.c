/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An aggregate over objects becomes a set of the objects' values; one over virtual time becomes a
 * node that collects values. Conditions on objects are evaluated here; others are sent with the
 * values, which a set leaves out if they are false. An aggregate over virtual time of the same
 * aggregate over objects is reordered: MAX of MAX, MIN of MIN, SUM of SUM, PROD of PROD, SUM of
 * COUNT. Each process then aggregates its own values, and the traffic does not depend on the number
 * of events.
 */
#include "pmsl/plan/binding.h"

#include "common/base/array.h"
#include "common/omis/text/arena.h"

#include <stdlib.h>
#include <string.h>

static const enum agg_kind aggs[PMSL_FOLDS] = {
	[PMSL_SUM] = AGG_SUM,
	[PMSL_PROD] = AGG_PROD,
	[PMSL_MIN] = AGG_MIN,
	[PMSL_MAX] = AGG_MAX,
	[PMSL_MEAN] = AGG_MEAN,
	[PMSL_STDEV] = AGG_STDEV,
	[PMSL_COUNT] = AGG_COUNT,
	[PMSL_UNIQUE] = AGG_UNIQUE,
	[PMSL_QUANTILE] = AGG_QUANTILE,
	[PMSL_HISTOGRAM] = AGG_HISTOGRAM,
	[PMSL_VARIANCE] = AGG_VARIANCE,
	[PMSL_SKEWNESS] = AGG_SKEWNESS,
	[PMSL_KURTOSIS] = AGG_KURTOSIS,
	[PMSL_CI] = AGG_CI,
	[PMSL_COVARIANCE] = AGG_COVARIANCE,
	[PMSL_CORRELATION] = AGG_CORRELATION,
	[PMSL_WHO_MAX] = AGG_WHO_MAX,
	[PMSL_WHO_MIN] = AGG_WHO_MIN,
	[PMSL_TOP] = AGG_TOP,
};

/* Values of one process arrive in order, except for a few that a link has reordered. */
#define NEIGHBOURS_WINDOW 8

/* Values found for one aggregate. */
struct found {
	uint32_t *node; /* owned */
	size_t n, cap;
	struct agg constants;
	union agg_room *room; /* of constants; owned */
	size_t nconstant;
	uint32_t object; /* the object that UNIQUE has found; WORLD_NONE = none yet */
	bool is_object; /* the value is an object or a region */
	struct known first;
};

struct folding {
	struct binder *b;
	const struct dag_node *n;
	struct flow_fold fold;
	bool is_over_vt;
	struct found f;
};

/* Finds `.time IN t` among the conditions joined by AND. */
static const struct dag_node *find_times(const struct dag *g, uint32_t where)
{
	const struct dag_node *n = &g->node[where], *t;

	if (n->kind == DAG_TIMES)
		return n;
	if (n->kind != DAG_OP || n->op != PMSL_AND)
		return NULL;
	t = find_times(g, n->in[0]);
	return t ? t : find_times(g, n->in[1]);
}

static enum flow_since since_of(const struct dag *g, const struct dag_node *n,
				enum flow_since measured)
{
	const struct dag_node *times = n->nin > 1 ? find_times(g, n->in[1]) : NULL;
	unsigned span = times ? g->node[times->in[0]].op : DAG_SINCE_START;

	if (span == DAG_AS_MEASURED)
		return measured;
	return span == DAG_SINCE_LAST ? FLOW_SINCE_LAST : FLOW_SINCE_START;
}

static bool is_over_vt(const struct dag *g, const struct dag_node *n)
{
	for (unsigned i = 0; i < g->nvariable; i++)
		if (n->bound >> i & 1 && g->variable[i].kind == PMSL_T_VT)
			return true;
	return false;
}

/* --- stop rules */

/* True if each parameter that is a single object is a separate output. */
static bool has_one_for_each_output(const struct dag *g, enum bind_by by)
{
	bool is_first = true;

	for (const struct pmsl_decl *d = g->metric->param; d; d = d->next) {
		if (!pmsl_is_object(d->type.kind))
			continue;
		if (!d->type.dims && !(is_first && by && bind_by_kind[by] == d->type.kind))
			return false;
		is_first = false;
	}
	return true;
}

bool bind_can_stop(const struct dag *g, const struct bind_options *options)
{
	const struct dag_node *root = &g->node[g->root];

	return root->kind == DAG_FOLD && agg_gives(AGG_KURTOSIS, aggs[root->op]) &&
	       is_over_vt(g, root) && since_of(g, root, options->since) == FLOW_SINCE_START &&
	       !options->per_second && has_one_for_each_output(g, options->by);
}

/* Returns the fold that computes all moments which the stop rule needs. */
static struct flow_fold stopping_fold(const struct flow_fold *f)
{
	struct flow_fold made = *f;

	made.agg = f->agg == AGG_MEAN ? AGG_VARIANCE : f->agg;
	made.partial_out = true;
	return made;
}

static int put_stop(struct folding *f, const struct flow_fold *gives,
		    const struct known *neighbours, struct known *out)
{
	const struct place top = { PLACE_TOP, 0 };
	uint32_t from[2] = { out->node, neighbours->node };
	struct flow_node n = { .kind = FLOW_STOP,
			       .in = from,
			       .nin = 2,
			       .stop = { gives->agg, gives->q, f->b->options->until } };

	return bind_put(f->b, f->n, &n, &top, out);
}

static int put_pair(struct folding *f, enum agg_kind agg, const uint32_t in[2], uint32_t window,
		    struct known *out)
{
	struct flow_node n = { .kind = FLOW_PAIR,
			       .in = in,
			       .nin = 2,
			       .window = window,
			       .fold = { .agg = agg, .partial_out = true } };

	return bind_put(f->b, f->n, &n, NULL, out);
}

/* Pairs each value with the value at the previous virtual time. */
static int put_neighbour(struct folding *f, uint32_t value, const struct flow_fold *fold,
			 struct known *out)
{
	uint32_t in[2] = { value, 0 };
	struct flow_node before = { .kind = FLOW_SHIFT, .shift = 1, .in = in, .nin = 1 };
	struct flow_node n = { .kind = FLOW_VT_AGG, .nin = 1, .fold = *fold };
	int rc = bind_put(f->b, f->n, &before, NULL, out);

	in[1] = out->node;
	if (!rc)
		rc = put_pair(f, fold->agg, in, NEIGHBOURS_WINDOW, out);
	in[0] = out->node;
	n.in = in;
	return rc ? rc : bind_put(f->b, f->n, &n, NULL, out);
}

/*
 * Finds whether values depend on earlier ones: for each combination of objects separately, then for
 * all.
 */
static int put_neighbours(struct folding *f, struct known *out)
{
	const struct flow_fold fold = { .agg = AGG_CORRELATION,
					.partial_out = true,
					.since = f->fold.since };
	uint32_t *in = arena_array(f->b->arena, f->f.n, sizeof(*in));
	int rc = in ? 0 : -ERR_NOMEM;

	for (size_t i = 0; i < f->f.n && !rc; i++) {
		rc = put_neighbour(f, f->f.node[i], &fold, out);
		in[i] = out->node;
	}
	return rc || !f->f.n ? rc
			     : bind_set(f->b, f->n, &fold, (struct node_list){ in, f->f.n }, out);
}

/* Puts a fold over virtual time, for one combination of objects. */
static int put_vt_agg(struct folding *f, uint32_t value, bool partial, struct known *out)
{
	struct flow_node n = { .kind = FLOW_VT_AGG, .in = &value, .nin = 1, .fold = f->fold };

	n.fold.partial_out = partial || f->fold.partial_out;
	return bind_put(f->b, f->n, &n, NULL, out);
}

static int keep(struct folding *f, const struct known *value)
{
	struct found *v = &f->f;
	int rc;

	if (value->kind == KNOWN_NUMBER) {
		agg_add(&v->constants, value->number, 0);
		v->nconstant++;
		return 0;
	}
	rc = array_grow(&v->node, &v->cap, v->n + 1, sizeof(*v->node), BOUND_NODES_MAX);
	if (!rc)
		v->node[v->n++] = value->node;
	return rc;
}

/* Adds a condition that is known only during the measurement. */
static int add_condition(struct folding *f, const struct known *condition, struct known *value)
{
	struct known in[2] = { *value, *condition };

	return condition->kind == KNOWN_NUMBER
		       ? 0
		       : bind_op(f->b, f->n, FLOW_OP_WHERE, (struct known_list){ in, 2 }, value);
}

/* Evaluates the node for the virtual times that the condition chooses. */
static int eval_chosen(struct folding *f, uint32_t node, const struct known *condition,
		       struct known *out)
{
	int rc = bind_eval(f->b, node, out);

	return rc ? rc : bind_choose(f->b, condition->choice, out);
}

static int eval_condition(struct folding *f, struct known *out)
{
	int rc = f->n->nin > 1 ? bind_eval(f->b, f->n->in[1], out) : 0;

	if (!rc && out->kind == KNOWN_CHOICE) {
		const struct flow_choice *c = out->choice;

		*out = known_number(1);
		out->choice = c;
	}
	return rc ? rc : bind_choose(f->b, out->choice, out);
}

static int take_pair(struct folding *f, const struct dag_node *pair, const struct known *condition)
{
	struct known in[2], made;
	uint32_t ids[2];
	int rc = eval_chosen(f, pair->in[0], condition, &in[0]);

	if (!rc)
		rc = eval_chosen(f, pair->in[1], condition, &in[1]);
	if (!rc)
		rc = add_condition(f, condition, &in[0]);
	if (rc)
		return rc;
	if (in[0].kind == KNOWN_NUMBER && in[1].kind == KNOWN_NUMBER) {
		agg_add_pair(&f->f.constants, in[0].number, 0, in[1].number, 0);
		f->f.nconstant++;
		return 0;
	}
	rc = bind_node(f->b, f->n, &in[0], &ids[0]);
	if (!rc)
		rc = bind_node(f->b, f->n, &in[1], &ids[1]);
	if (!rc)
		rc = put_pair(f, f->fold.agg, ids, 0, &made);
	return rc ? rc : keep(f, &made);
}

/* Returns the object to which the current value belongs. */
static const char *object_of(const struct folding *f)
{
	const struct binder *b = f->b;

	for (unsigned i = 0; i < b->g->nvariable; i++)
		if (f->n->bound >> i & 1 && pmsl_is_object(b->g->variable[i].kind))
			return b->b->world->v[b->run[i]].token;
	return NULL; /* the check has found such a variable */
}

/* A value with its object. */
static int take_who(struct folding *f, const struct known *condition)
{
	struct flow_node n = { .kind = FLOW_WHO, .nin = 1, .who = { f->fold, object_of(f) } };
	struct known value, made;
	int rc = eval_chosen(f, f->n->in[0], condition, &value);

	if (!rc)
		rc = add_condition(f, condition, &value);
	if (!rc && value.kind != KNOWN_NODE)
		rc = bind_fail(f->b, f->n, -ERR_INVALID, "%s of a value that never changes",
			       pmsl_fold_name(f->n->op));
	if (rc)
		return rc;
	n.in = &value.node;
	rc = bind_put(f->b, f->n, &n, NULL, &made);
	return rc ? rc : keep(f, &made);
}

/* Evaluates for the current values of the variables. */
static int take_one(struct folding *f)
{
	struct known condition = known_number(1), value;
	int rc;

	if (!f->b->left--)
		return bind_fail(f->b, f->n, -ERR_LIMIT, "more than %d combinations of objects",
				 BIND_COMBINATIONS_MAX);
	rc = eval_condition(f, &condition);
	if (rc || (condition.kind == KNOWN_NUMBER && condition.number == 0))
		return rc;
	if (agg_kind_is_of_pairs(f->fold.agg))
		return take_pair(f, &f->b->g->node[f->n->in[0]], &condition);
	if (agg_kind_is_of_objects(f->fold.agg))
		return take_who(f, &condition);
	rc = eval_chosen(f, f->n->in[0], &condition, &value);
	if (rc)
		return rc;
	if (value.kind == KNOWN_OBJECT || value.kind == KNOWN_REGIONS) {
		f->f.is_object = true;
		if (f->f.first.kind == KNOWN_NOTHING)
			f->f.first = value;
		value = known_number(1);
		if (f->fold.agg == AGG_UNIQUE && condition.kind != KNOWN_NUMBER)
			return bind_fail(f->b, f->n, -ERR_UNSUPPORTED,
					 "which object is the one changes while it is measured");
	}
	rc = add_condition(f, &condition, &value);
	return rc ? rc : keep(f, &value);
}

/* Runs through all values of the variables from number `from` on, except virtual times. */
static int run(struct folding *f, unsigned from)
{
	struct binder *b = f->b;
	enum pmsl_kind kind;
	size_t n;
	int rc = 0;

	while (from < b->g->nvariable &&
	       (!(f->n->bound >> from & 1) || b->g->variable[from].kind == PMSL_T_VT))
		from++;
	if (from == b->g->nvariable)
		return take_one(f);
	kind = b->g->variable[from].kind;
	n = kind == PMSL_T_REGION ? b->all_regions.n : b->nall[kind];
	for (size_t i = 0; i < n && !rc; i++) {
		b->run[from] = kind == PMSL_T_REGION ? (uint32_t)i : b->all[kind][i];
		rc = run(f, from + 1);
	}
	return rc;
}

static bool commutes(enum agg_kind over_vt, enum agg_kind over_objects)
{
	if (over_vt == AGG_SUM && over_objects == AGG_COUNT)
		return true;
	return over_vt == over_objects && (over_vt == AGG_SUM || over_vt == AGG_PROD ||
					   over_vt == AGG_MIN || over_vt == AGG_MAX);
}

/* True if an aggregate over virtual time of a set can become a set of such aggregates. */
static bool can_swap(const struct folding *f, const struct bound_node *set)
{
	return set->n.kind == FLOW_SET && !set->n.partial &&
	       !f->b->b->node[set->n.in[0]]->n.partial && commutes(f->fold.agg, set->n.fold.agg) &&
	       !f->b->b->is_central;
}

static int swap(struct folding *f, const struct bound_node *set, struct known *out)
{
	struct flow_fold fold = set->n.fold;
	uint32_t *in = arena_array(f->b->arena, set->n.nin, sizeof(*in));
	size_t i;
	int rc = in ? 0 : -ERR_NOMEM;

	f->fold.agg = set->n.fold.agg;
	for (i = 0; i < set->n.nin && !rc; i++) {
		rc = put_vt_agg(f, set->n.in[i], true, out);
		if (!rc)
			in[i] = out->node;
	}
	return rc ? rc : bind_set(f->b, f->n, &fold, (struct node_list){ in, i }, out);
}

static int conclude_vt(struct folding *f, struct known *out)
{
	const struct bound_node *one = f->b->b->node[f->f.node[0]];
	int rc = 0;

	if (f->f.n == 1)
		return can_swap(f, one) ? swap(f, one, out) : put_vt_agg(f, one->id, false, out);
	for (size_t i = 0; i < f->f.n && !rc; i++) {
		rc = put_vt_agg(f, f->f.node[i], true, out);
		f->f.node[i] = out->node;
	}
	return rc ? rc
		  : bind_set(f->b, f->n, &f->fold, (struct node_list){ f->f.node, f->f.n }, out);
}

static int conclude_constants(struct folding *f, struct known *out)
{
	double error;

	if (f->fold.agg == AGG_HISTOGRAM)
		return bind_fail(f->b, f->n, -ERR_INVALID,
				 "a histogram of a value that never changes");
	if (!f->f.nconstant && f->fold.agg != AGG_SUM && f->fold.agg != AGG_COUNT &&
	    f->fold.agg != AGG_PROD)
		return bind_fail(f->b, f->n, -ERR_INVALID, "%s has no values: no object is chosen",
				 pmsl_fold_name(f->n->op));
	*out = known_number(agg_value(&f->f.constants, f->fold.q, &error));
	return 0;
}

static int conclude(struct folding *f, struct known *out)
{
	if (f->f.is_object && f->fold.agg == AGG_UNIQUE) {
		*out = f->f.first;
		return 0;
	}
	if (!f->f.n)
		return conclude_constants(f, out);
	if (f->f.nconstant)
		return bind_fail(f->b, f->n, -ERR_UNSUPPORTED,
				 "the value never changes for some objects, but does for others");
	if (f->is_over_vt)
		return conclude_vt(f, out);
	return bind_set(f->b, f->n, &f->fold, (struct node_list){ f->f.node, f->f.n }, out);
}

/*
 * Evaluates constant values by the wanted fold, even if the graph uses another one. neighbours:
 * NULL, or the node by which a stop finds dependence on earlier values.
 */
static int run_and_conclude(struct folding *f, const struct flow_fold *wanted,
			    struct known *neighbours, struct known *out)
{
	int rc;

	if (agg_kind_has_room(wanted->agg)) {
		f->f.room = calloc(1, sizeof(*f->f.room));
		if (!f->f.room)
			return -ERR_NOMEM;
	}
	agg_init(&f->f.constants, wanted->agg, f->f.room);
	rc = run(f, 0);
	if (!rc && neighbours)
		rc = put_neighbours(f, neighbours);
	return rc ? rc : conclude(f, out);
}

int bind_fold(struct binder *b, const struct dag_node *n, struct known *out)
{
	struct folding f = { .b = b, .n = n, .fold = { .agg = aggs[n->op], .q = n->number } };
	bool stops = b->options->until && n == &b->g->node[b->g->root] &&
		     bind_can_stop(b->g, b->options);
	uint32_t before[PMSL_VARIABLES_MAX];
	struct flow_fold wanted;
	struct known neighbours;
	int rc;

	memcpy(before, b->run, sizeof(before));
	f.is_over_vt = is_over_vt(b->g, n);
	f.fold.partial_out = pmsl_is_result(n->type.kind);
	f.fold.since = f.is_over_vt ? since_of(b->g, n, b->options->since) : FLOW_SINCE_START;
	f.f.first.kind = KNOWN_NOTHING;
	wanted = f.fold;
	if (stops)
		f.fold = stopping_fold(&wanted);
	rc = run_and_conclude(&f, &wanted, stops ? &neighbours : NULL, out);
	if (!rc && stops && out->kind == KNOWN_NODE)
		rc = put_stop(&f, &wanted, &neighbours, out);
	memcpy(b->run, before, sizeof(before));
	free(f.f.node);
	free(f.f.room);
	return rc;
}
