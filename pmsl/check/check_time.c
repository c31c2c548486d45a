/* SPDX-License-Identifier: Apache-2.0 */
/* AT, IN, and the operators that run over variables: expressions of time and sets. */
#include "pmsl/check/checking.h"

#include "common/flow/graph/agg.h"

#include <string.h>

/* Finds the PROBE e that AT e(p, vt) names. */
static bool find_probe(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_decl *d = smap_find(&c->names, e->name);

	if (d && d->kind == PMSL_D_PROBE) {
		d->is_used = true;
		e->decl = d;
		return true;
	}
	pmsl_wrong(c, e, d ? "%s is not a probe" : "there is no probe %s", e->name);
	if (smap_find(&c->metrics, e->name))
		pmsl_hint(c->d, "%s is a metric; AT names the probe at which the value is taken",
			  e->name);
	else if (d)
		pmsl_hint(c->d, "AT names a probe");
	else
		pmsl_hint(c->d, "declare it: PROBE %s(Process, VirtualTime);", e->name);
	return false;
}

static void check_event(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *p = e->arg->next, *vt = p ? p->next : NULL;

	if (!vt || vt->next) {
		pmsl_wrong(c, e, "the event is given as %s(process, virtual time)", e->name);
		return;
	}
	pmsl_check_expr(c, p);
	pmsl_check_expr(c, vt);
	e->free |= p->free | vt->free;
	pmsl_want(c, p, PMSL_T_PROCESS);
	pmsl_want(c, vt, PMSL_T_VT);
}

void pmsl_check_at(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *what = e->arg;

	e->type.kind = PMSL_T_VALUE;
	e->domain = PMSL_EACH_VT;
	if (c->at) {
		pmsl_wrong(c, e, "AT inside the left side of AT");
		return;
	}
	if (!find_probe(c, e))
		return;
	check_event(c, e);
	c->at = e;
	pmsl_check_expr(c, what);
	c->at = NULL;
	e->free |= what->free;
	if (!pmsl_want(c, what, PMSL_T_VALUE))
		return;
	e->unit = what->unit;
	if (what->domain == PMSL_EACH_VT) {
		pmsl_wrong(c, what, "this is taken AT a probe already");
	} else if (what->domain > PMSL_MOMENT) {
		pmsl_wrong(c, what, "this has a value once a read, not at an event");
		pmsl_hint(c->d, "[START,NOW] has one at any time; take differences of that");
	}
}

/* True if `large` is or contains `small`: a process is in a Process[], a node and a site. */
static bool may_hold(enum pmsl_kind small, enum pmsl_kind large)
{
	if (small == PMSL_T_REGION || large == PMSL_T_REGION)
		return small == large;
	return pmsl_is_object(small) && pmsl_is_object(large) && small <= large;
}

static void check_time_in(struct pmsl_checker *c, struct pmsl_expr *e)
{
	if (!c->takes_times) {
		pmsl_wrong(
			c, e,
			"times select values only in the WHERE of an operator over virtual time");
		pmsl_hint(c->d, "SUM(x[vt] WHERE x[vt].time IN t), other conditions joined by AND");
		return;
	}
	if (c->times)
		pmsl_wrong(c, e, "one condition on time is enough");
	c->times = e;
	e->domain = PMSL_ALWAYS;
	e->type.kind = PMSL_T_BOOL;
}

void pmsl_check_in(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *a = e->arg, *b = a->next;
	bool takes_times = c->takes_times;
	char left[PMSL_TYPE_BYTES], right[PMSL_TYPE_BYTES];

	c->takes_times = false;
	pmsl_check_expr(c, a);
	e->free = a->free;
	e->type.kind = PMSL_T_BOOL;
	if (pmsl_is_key(a)) {
		pmsl_check_key_in(c, e);
		c->takes_times = takes_times;
		return;
	}
	pmsl_check_expr(c, b);
	c->takes_times = takes_times;
	e->free |= b->free;
	if (a->type.kind == PMSL_T_NONE || b->type.kind == PMSL_T_NONE)
		return;
	if (a->type.kind == PMSL_T_TIME && b->type.kind == PMSL_T_INTERVAL &&
	    a->kind == PMSL_E_ATTR)
		check_time_in(c, e);
	else if (pmsl_is_array(a) || !may_hold(a->type.kind, b->type.kind) ||
		 (a->type.kind == b->type.kind && !pmsl_is_array(b)))
		pmsl_wrong(c, e, "a %s is not IN a %s", pmsl_type_name(a->type, left),
			   pmsl_type_name(b->type, right));
}

static bool takes_list(unsigned fold)
{
	return fold == PMSL_SUM || fold == PMSL_PROD || fold == PMSL_MIN || fold == PMSL_MAX ||
	       fold == PMSL_MEAN || fold == PMSL_COUNT;
}

/* Checks MAX(a, b, c), in which no variable runs. */
static void check_list(struct pmsl_checker *c, struct pmsl_expr *e)
{
	char left[PMSL_UNIT_TEXT_BYTES], right[PMSL_UNIT_TEXT_BYTES];

	e->type.kind = PMSL_T_VALUE;
	if (e->over || e->where || !takes_list(e->op))
		pmsl_wrong(c, e, "%s runs over one expression, not over a list",
			   pmsl_fold_name(e->op));
	for (struct pmsl_expr *a = e->arg; a; a = a->next) {
		pmsl_check_expr(c, a);
		e->domain = pmsl_join_domains(c, e, e->domain, a->domain);
		e->free |= a->free;
		if (!pmsl_want(c, a, PMSL_T_VALUE))
			continue;
		if (e->op == PMSL_PROD)
			e->unit = a == e->arg ? a->unit : pmsl_unit_product(e->unit, a->unit, 1);
		else if (e->op == PMSL_COUNT || pmsl_unit_fits(e->unit, a->unit))
			e->unit = pmsl_unit_join(e->unit, a->unit);
		else
			pmsl_wrong(c, a, "units do not fit: %s, %s",
				   pmsl_unit_text(c->units, e->unit, left),
				   pmsl_unit_text(c->units, a->unit, right));
	}
	if (e->op == PMSL_COUNT)
		e->unit = PMSL_UNIT_ONE;
}

/* Returns the variables of MAX[p][q](...). */
static uint64_t check_over(struct pmsl_checker *c, struct pmsl_expr *e)
{
	uint64_t set = 0;

	for (struct pmsl_names *n = e->over; n; n = n->next) {
		struct pmsl_decl *d = smap_find(&c->names, n->name);

		if (!d || d->kind != PMSL_D_VARIABLE || d->value || d->type.kind == PMSL_T_VALUE ||
		    d->type.dims) {
			pmsl_error(c->d, n->at, (uint32_t)strlen(n->name),
				   "%s is not a variable to run over", n->name);
			if (!d)
				pmsl_hint_names(c, n->name, false);
			continue;
		}
		d->is_used = true;
		n->decl = d;
		if (pmsl_number_variable(c, d))
			set |= UINT64_C(1) << d->number;
	}
	return set;
}

/* Folds with a parameter: how they are written, and which parameters they take. */
static const struct share {
	enum agg_kind agg;
	const char *form, *range;
} share_of[PMSL_FOLDS] = {
	[PMSL_QUANTILE] = { AGG_QUANTILE, "QUANTILE takes a share and a value: QUANTILE(0.9, x[p])",
			    "the share is a number from 0 to 1" },
	[PMSL_CI] = { AGG_CI, "CI takes a level and a value: CI(0.95, x[p])",
		      "the level is a number below 1: 0.95" },
	[PMSL_TOP] = { AGG_TOP, "TOP takes a number and a value: TOP(3, x[p])",
		       "the number of values is a whole number from 1 to 16" },
};

_Static_assert(WHO_TOP_MAX == 16, "the range of TOP in share_of");

/* Checks the parameter of such a fold. Returns the argument after it, or NULL. */
static struct pmsl_expr *check_share(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *share = e->arg;

	if (!pmsl_fold_has_share(e->op))
		return e->narg == 1 ? e->arg : NULL;
	pmsl_check_expr(c, share);
	if (e->narg != 2)
		pmsl_wrong(c, e, "%s", share_of[e->op].form);
	else if (share->kind != PMSL_E_NUMBER ||
		 !agg_share_is_fit(share_of[e->op].agg, share->number))
		pmsl_wrong(c, share, "%s", share_of[e->op].range);
	return share->next;
}

/* Returns the value that the fold runs over; NULL if the number of values is wrong. */
static struct pmsl_expr *value_of(struct pmsl_checker *c, struct pmsl_expr *e)
{
	if (pmsl_fold_is_of_pairs(e->op) && e->arg->kind != PMSL_E_PAIR) {
		pmsl_wrong(c, e, "%s takes two values: %s(x[p], y[p])", pmsl_fold_name(e->op),
			   pmsl_fold_name(e->op));
		return NULL;
	}
	return check_share(c, e);
}

/* Checks x[vt].time: only the time of the running variable selects values. */
static void check_times(struct pmsl_checker *c, struct pmsl_expr *e)
{
	const struct pmsl_expr *t = c->times;

	if (t && !(t->free & e->bound & c->vt)) {
		pmsl_error(c->d, t->at, t->len, "this time does not depend on what %s runs over",
			   pmsl_fold_name(e->op));
		pmsl_hint(c->d, "times select among virtual times");
	}
}

/* Checks that there are values to choose from, for the virtual time of the choice. */
static void check_chosen(struct pmsl_checker *c, struct pmsl_expr *e, const struct pmsl_expr *value)
{
	uint64_t vts = (value->free | e->where->free) & c->vt;
	struct pmsl_expr *chosen = (struct pmsl_expr *)(uintptr_t)c->chosen;

	if (chosen->type.kind == PMSL_T_NONE || value->type.kind == PMSL_T_NONE)
		return;
	if (vts & (vts - 1))
		pmsl_wrong(c, chosen, "two virtual times are mixed here");
	else if (value->domain != PMSL_EACH_VT && e->where->domain != PMSL_EACH_VT)
		pmsl_wrong(c, chosen, "there is no value for each virtual time to choose from");
}

static void hint_variable(struct pmsl_checker *c, unsigned fold)
{
	if (takes_list(fold) || fold == PMSL_UNIQUE)
		pmsl_hint(c->d, "declare one and use it: Process p; ... %s(x(p) WHERE p IN procs)",
			  pmsl_fold_name(fold));
	else
		pmsl_hint(c->d,
			  "of calls there is the sum, not each: declare one and use it, a Process, "
			  "or a VirtualTime AT a probe");
}

static void bind(struct pmsl_checker *c, struct pmsl_expr *e, const struct pmsl_expr *value,
		 uint64_t over)
{
	uint64_t all = value->free | (e->where ? e->where->free : 0);

	e->bound = over ? over : all & ~c->held;
	e->free = all & ~e->bound;
	if (!e->bound && value->type.kind != PMSL_T_NONE) {
		pmsl_wrong(c, e, "%s has no variable to run over", pmsl_fold_name(e->op));
		hint_variable(c, e->op);
	}
	if (over & ~all)
		pmsl_wrong(c, e, "a variable of %s is not used in it", pmsl_fold_name(e->op));
}

/* Checks that the fold runs over one variable of objects, which the values belong to. */
static void check_objects(struct pmsl_checker *c, struct pmsl_expr *e)
{
	if (__builtin_popcountll(e->bound & c->objects) == 1)
		return;
	pmsl_wrong(c, e, "%s runs over one variable of objects, which it then names",
		   pmsl_fold_name(e->op));
	pmsl_hint(c->d, "%s[p](...) with Process p, Node p or Site p", pmsl_fold_name(e->op));
}

static enum pmsl_kind fold_kind(unsigned fold)
{
	if (pmsl_fold_is_of_objects(fold))
		return PMSL_T_RANKING;
	return fold == PMSL_HISTOGRAM ? PMSL_T_HISTOGRAM : PMSL_T_VALUE;
}

static struct pmsl_unit fold_unit(const struct pmsl_expr *e, struct pmsl_unit of)
{
	switch (e->op) {
	case PMSL_COUNT:
	case PMSL_SKEWNESS:
	case PMSL_KURTOSIS:
	case PMSL_CORRELATION:
		return PMSL_UNIT_ONE;
	case PMSL_VARIANCE:
		return pmsl_unit_product(of, of, 1);
	default:
		return of;
	}
}

/* Sets the aggregate's type, unit and domain. */
static void conclude(struct pmsl_checker *c, struct pmsl_expr *e, struct pmsl_expr *value)
{
	bool is_object = pmsl_is_object(value->type.kind) || value->type.kind == PMSL_T_REGION;
	char unit[PMSL_UNIT_TEXT_BYTES];

	e->domain =
		e->where ? pmsl_join_domains(c, e, value->domain, e->where->domain) : value->domain;
	e->type.kind = fold_kind(e->op);
	if (e->bound && pmsl_fold_is_of_objects(e->op))
		check_objects(c, e);
	if (is_object && !value->type.dims && (e->op == PMSL_UNIQUE || e->op == PMSL_COUNT)) {
		if (e->op == PMSL_UNIQUE)
			e->type = value->type;
	} else if (!pmsl_want(c, value, PMSL_T_VALUE)) {
		return;
	}
	e->unit = fold_unit(e, value->unit);
	if (e->op == PMSL_PROD && !pmsl_unit_is_one(value->unit)) {
		pmsl_unit_text(c->units, value->unit, unit);
		pmsl_wrong(
			c, e,
			"a product over n values in %s is in (%s)^n, which is not a unit: n may change",
			unit, unit);
		pmsl_hint(c->d, "divide by a value in %s first; PROD(a, b) multiplies units", unit);
	}
	if (!(e->bound & c->vt))
		return;
	if (e->domain != PMSL_EACH_VT && value->type.kind != PMSL_T_NONE)
		pmsl_wrong(c, e, "there is no value for each virtual time to run over");
	e->domain = PMSL_READ;
}

void pmsl_check_fold(struct pmsl_checker *c, struct pmsl_expr *e)
{
	const struct pmsl_expr *times = c->times, *chosen = c->chosen;
	uint64_t held = c->held, over;
	struct pmsl_expr *value;

	if (!pmsl_fold_has_share(e->op) && !pmsl_fold_is_of_pairs(e->op) && e->narg != 1) {
		check_list(c, e);
		return;
	}
	value = value_of(c, e);
	if (!value)
		return;
	c->times = c->chosen = NULL;
	over = check_over(c, e);
	c->held |= over;
	pmsl_check_expr(c, value);
	if (e->where) {
		c->takes_times = true;
		pmsl_check_expr(c, e->where);
		pmsl_want_condition(c, e->where);
		c->takes_times = false;
		if (c->chosen)
			check_chosen(c, e, value);
	}
	c->held = held;
	bind(c, e, value, over);
	check_times(c, e);
	conclude(c, e, value);
	c->times = times;
	c->chosen = chosen;
}
