/* SPDX-License-Identifier: Apache-2.0 */
/* Names, operators, attributes, intervals, IF. */
#include "pmsl/check/checking.h"

#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "pmsl/check/builtin.h"
#include "pmsl/check/function.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* names compared for a hint: real texts have fewer */
#define NEAREST_LOOKS 2000

static const char *const specials[] = { "START", "LAST", "NOW" };
enum { START, LAST, NOW };

void pmsl_wrong(struct pmsl_checker *c, struct pmsl_expr *e, const char *fmt, ...)
{
	char text[PMSL_DIAG_TEXT_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pmsl_error(c->d, e->at, e->len, "%s", text);
	e->type = (struct pmsl_type){ PMSL_T_NONE, 0 };
	e->unit = PMSL_UNIT_ANY;
}

bool pmsl_is_array(const struct pmsl_expr *e)
{
	return e->type.kind != PMSL_T_NONE && e->type.dims > 0;
}

bool pmsl_want(struct pmsl_checker *c, struct pmsl_expr *e, enum pmsl_kind kind)
{
	static const char *const words[PMSL_KINDS] = {
		[PMSL_T_VALUE] = "a number",	   [PMSL_T_BOOL] = "a condition",
		[PMSL_T_PROCESS] = "a Process",	   [PMSL_T_NODE] = "a Node",
		[PMSL_T_VT] = "a virtual time",	   [PMSL_T_INTERVAL] = "a TimeInterval",
		[PMSL_T_REGION] = "a Region",	   [PMSL_T_SITE] = "a Site",
		[PMSL_T_TIME] = "a point of time",
	};
	char have[PMSL_TYPE_BYTES];

	if (e->type.kind == PMSL_T_NONE || (e->type.kind == kind && !e->type.dims))
		return true;
	/* A point of time is a number of seconds as well. */
	if (kind == PMSL_T_VALUE && e->type.kind == PMSL_T_TIME && e->domain == PMSL_EACH_VT)
		return true;
	if (e->type.kind == PMSL_T_CHOICE || e->type.kind == PMSL_T_KEY) {
		pmsl_wrong(c, e, "virtual times are chosen only in the WHERE of a fold");
		pmsl_hint(c->d, "SUM(x[vt] WHERE vt > 10)");
		return false;
	}
	pmsl_wrong(c, e, "expected %s, found %s", words[kind], pmsl_type_name(e->type, have));
	return false;
}

enum pmsl_domain pmsl_join_domains(struct pmsl_checker *c, struct pmsl_expr *e, enum pmsl_domain a,
				   enum pmsl_domain b)
{
	if (a == b || a == PMSL_ALWAYS || b == PMSL_ALWAYS)
		return a > b ? a : b;
	if (a != PMSL_EACH_VT && b != PMSL_EACH_VT)
		return a > b ? a : b;
	pmsl_wrong(c, e, "a value for each virtual time meets one for each read");
	pmsl_hint(c->d, "take both AT a probe, or aggregate the first over virtual time");
	return PMSL_EACH_VT;
}

/* Adds the domain and the free variables of a part to the expression. */
static void take_over(struct pmsl_checker *c, struct pmsl_expr *e, const struct pmsl_expr *part)
{
	uint64_t vts;

	e->domain = pmsl_join_domains(c, e, e->domain, part->domain);
	e->free |= part->free;
	vts = e->free & c->vt;
	if (vts & (vts - 1))
		pmsl_wrong(c, e, "two virtual times are mixed here");
}

void pmsl_hint_names(struct pmsl_checker *c, const char *name, bool is_call)
{
	struct nearest n = nearest_to(name);
	char builtin[PMSL_BUILTIN_NAME_BYTES];
	struct smap_iter i = { 0 };
	unsigned looks = 0;

	while (smap_next(is_call ? &c->metrics : &c->names, &i) && looks++ < NEAREST_LOOKS)
		nearest_try(&n, i.key);
	if (is_call)
		pmsl_builtin_try(&n, builtin);
	for (unsigned k = 0; is_call && pmsl_function_get(k); k++)
		nearest_try(&n, pmsl_function_get(k)->name);
	for (unsigned k = 0; !is_call && k < 3; k++)
		nearest_try(&n, specials[k]);
	for (unsigned k = 0; is_call && k < PMSL_FOLDS; k++)
		nearest_try(&n, pmsl_fold_name(k));
	if (n.best)
		pmsl_hint(c->d, "did you mean %s?", n.best);
}

bool pmsl_number_variable(struct pmsl_checker *c, struct pmsl_decl *d)
{
	if (d->number >= 0)
		return true;
	if (c->metric->nvariable == PMSL_VARIABLES_MAX) {
		pmsl_error(c->d, d->at, d->len, "a metric runs over at most %d variables",
			   PMSL_VARIABLES_MAX);
		return false;
	}
	d->number = (int)c->metric->nvariable++;
	if (d->type.kind == PMSL_T_VT)
		c->vt |= UINT64_C(1) << d->number;
	if (pmsl_is_object(d->type.kind))
		c->objects |= UINT64_C(1) << d->number;
	return true;
}

/* START, LAST and NOW are ordinary names, which a text may also define. */
static bool is_special(struct pmsl_expr *e)
{
	for (unsigned i = 0; i < 3; i++)
		if (!strcasecmp(e->name, specials[i]) && !e->narg) {
			e->type = (struct pmsl_type){ PMSL_T_TIME, 0 };
			e->op = (uint8_t)i;
			e->domain = PMSL_MOMENT;
			e->unit = PMSL_UNIT_ANY;
			return true;
		}
	return false;
}

/* Checks x[p][vt]: it has as many indices as its assignment, each of the same kind. */
static void check_indices(struct pmsl_checker *c, struct pmsl_expr *e)
{
	const struct pmsl_names *index = e->decl->index;
	struct pmsl_expr *a;

	for (a = e->arg; a && index; a = a->next, index = index->next) {
		pmsl_check_expr(c, a);
		if (index->decl)
			pmsl_want(c, a, index->decl->type.kind);
		e->free |= a->free;
		e->domain = e->domain > a->domain ? e->domain : a->domain;
	}
	if (a || index)
		pmsl_wrong(c, e, "%s was set with %s indices", e->name, a ? "fewer" : "more");
}

static uint64_t index_set(const struct pmsl_decl *d)
{
	uint64_t set = 0;

	for (const struct pmsl_names *i = d->index; i; i = i->next)
		if (i->decl && i->decl->number >= 0)
			set |= UINT64_C(1) << i->decl->number;
	return set;
}

static void check_set_variable(struct pmsl_checker *c, struct pmsl_expr *e)
{
	const struct pmsl_decl *d = e->decl;

	e->type = d->index ? d->value->type : d->type;
	e->unit = d->value->unit;
	e->domain = d->value->domain;
	e->free = d->value->free & ~index_set(d);
	check_indices(c, e);
	if (c->at && d->value->domain == PMSL_EACH_VT)
		pmsl_wrong(c, e, "%s is taken AT a probe already", e->name);
}

static void check_free_variable(struct pmsl_checker *c, struct pmsl_expr *e, struct pmsl_decl *d)
{
	if (d->type.kind == PMSL_T_VALUE || d->type.kind == PMSL_T_INTERVAL ||
	    d->type.kind == PMSL_T_TIME || d->type.dims) {
		pmsl_wrong(c, e, "%s is used before it is set", e->name);
		return;
	}
	e->type = d->type;
	if (pmsl_number_variable(c, d))
		e->free = UINT64_C(1) << d->number;
	if (e->narg)
		pmsl_wrong(c, e, "%s is not an array", e->name);
}

static void check_param(struct pmsl_checker *c, struct pmsl_expr *e)
{
	e->type = e->decl->type;
	if (e->type.kind == PMSL_T_INTERVAL)
		e->domain = PMSL_SPAN;
	if (e->type.kind == PMSL_T_TIME)
		e->domain = PMSL_MOMENT;
	if (e->decl->number >= 0)
		e->free = UINT64_C(1) << e->decl->number;
	if (e->narg)
		pmsl_wrong(c, e, "%s is a parameter: it has no index", e->name);
}

/* Finds a parameter of the probe in the enclosing AT. */
static struct pmsl_decl *find_probe_param(const struct pmsl_checker *c, const char *name)
{
	struct pmsl_decl *d = c->at && c->at->decl ? c->at->decl->param : NULL;

	for (; d; d = d->next)
		if (str_eq(d->name, name) && d->position > 1)
			return d;
	return NULL;
}

static void pmsl_check_name(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_decl *d = find_probe_param(c, e->name);

	if (!d)
		d = smap_find(&c->names, e->name);
	if (!d && is_special(e))
		return;
	if (!d) {
		pmsl_wrong(c, e, "%s is not declared", e->name);
		pmsl_hint_names(c, e->name, false);
		return;
	}
	e->decl = d;
	d->is_used = true;
	if (d->kind == PMSL_D_PROBE) {
		pmsl_wrong(c, e, "%s is a probe", e->name);
		pmsl_hint(c->d, "values are taken by: value AT %s(process, virtual time)", e->name);
	} else if (d->kind == PMSL_D_PROBE_PARAM) {
		e->type = d->type;
		e->domain = PMSL_MOMENT;
	} else if (d->kind == PMSL_D_PARAM) {
		check_param(c, e);
	} else if (d->value) {
		check_set_variable(c, e);
	} else {
		check_free_variable(c, e, d);
	}
}

static void check_attr(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *of = e->arg;
	bool is_process, takes_times = c->takes_times;

	c->takes_times = false;
	pmsl_check_expr(c, of);
	c->takes_times = takes_times;
	is_process = of->type.kind == PMSL_T_PROCESS;
	take_over(c, e, of);
	if (of->type.kind == PMSL_T_NONE)
		return;
	if (pmsl_is_array(of)) {
		pmsl_wrong(c, e, "an array has no .%s", e->name);
	} else if (str_eq(e->name, "rank") && is_process) {
		e->type.kind = PMSL_T_VALUE;
	} else if (str_eq(e->name, "node") && is_process) {
		e->type.kind = PMSL_T_NODE;
	} else if (str_eq(e->name, "site") && (is_process || of->type.kind == PMSL_T_NODE)) {
		e->type.kind = PMSL_T_SITE;
	} else if (str_eq(e->name, "time") && of->domain == PMSL_EACH_VT) {
		e->type.kind = PMSL_T_TIME;
		pmsl_unit_parse(c->units, "s", &e->unit);
	} else {
		pmsl_wrong(c, e, "a %s has no .%s", pmsl_kind_name(of->type.kind), e->name);
		pmsl_hint(c->d, "a Process has .rank .node .site, a Node .site, a value for each "
				"virtual time .time");
	}
}

bool pmsl_is_now(const struct pmsl_expr *e)
{
	if (e->type.kind != PMSL_T_TIME || e->kind != PMSL_E_NAME)
		return false;
	return e->decl ? e->decl->kind == PMSL_D_PARAM : e->op == NOW;
}

static void check_interval(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *a = e->arg, *b = e->arg->next;

	pmsl_check_expr(c, a);
	pmsl_check_expr(c, b);
	e->type.kind = PMSL_T_INTERVAL;
	if (a->type.kind == PMSL_T_NONE || b->type.kind == PMSL_T_NONE)
		return;
	if (a->kind != PMSL_E_NAME || a->type.kind != PMSL_T_TIME || pmsl_is_now(a) || a->decl ||
	    !pmsl_is_now(b))
		pmsl_wrong(c, e, "an interval is [START,NOW] or [LAST,NOW]");
	e->op = a->op;
	/* At an event, LAST is the time of the previous event, which is known there. */
	e->domain = e->op == LAST && !c->at ? PMSL_READ : PMSL_MOMENT;
}

/* Checks vt - 1, an earlier virtual time. */
static void check_shift(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *vt = e->arg, *n = vt->next;

	e->type.kind = PMSL_T_VT;
	e->shift = vt->shift;
	e->decl = vt->decl;
	if ((e->op != PMSL_SUB && e->op != PMSL_ADD) || n->kind != PMSL_E_NUMBER ||
	    !n->is_integer || n->number > 1e9) {
		pmsl_wrong(c, e, "of a virtual time only a whole number is taken: vt - 1");
		return;
	}
	e->shift += e->op == PMSL_SUB ? (int64_t)n->number : -(int64_t)n->number;
	if (e->shift < 0 || e->shift > 1000000000) {
		pmsl_wrong(c, e, "a later virtual time is not known yet");
		pmsl_hint(c->d,
			  "begin with the latest one, and take the others from before: vt - 1");
	}
}

static void fit_units(struct pmsl_checker *c, struct pmsl_expr *e, struct pmsl_unit a,
		      struct pmsl_unit b, const char *doing)
{
	char left[PMSL_UNIT_TEXT_BYTES], right[PMSL_UNIT_TEXT_BYTES];

	if (pmsl_unit_fits(a, b)) {
		e->unit = pmsl_unit_join(a, b);
		return;
	}
	pmsl_wrong(c, e, "units do not fit: %s %s %s", pmsl_unit_text(c->units, a, left), doing,
		   pmsl_unit_text(c->units, b, right));
}

static void check_arithmetic(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *a = e->arg, *b = a->next;

	if (b && pmsl_is_key(a) && (a->type.kind == PMSL_T_KEY || e->op == PMSL_MOD)) {
		pmsl_check_key(c, e);
		return;
	}
	if (a->type.kind == PMSL_T_VT && !a->type.dims && b) {
		check_shift(c, e);
		return;
	}
	e->type.kind = PMSL_T_VALUE;
	if (!pmsl_want(c, a, PMSL_T_VALUE) || (b && !pmsl_want(c, b, PMSL_T_VALUE)))
		return;
	if (!b)
		e->unit = a->unit;
	else if (e->op == PMSL_MUL)
		e->unit = pmsl_unit_product(a->unit, b->unit, 1);
	else if (e->op == PMSL_DIV)
		e->unit = pmsl_unit_product(a->unit, b->unit, -1);
	else
		fit_units(c, e, a->unit, b->unit, pmsl_op_name(e->op));
	if ((e->op == PMSL_DIV || e->op == PMSL_MOD) && b->kind == PMSL_E_NUMBER && b->number == 0)
		pmsl_warn(c->d, b->at, b->len,
			  "a division by zero: the result is not a number, and is marked");
}

static void check_logic(struct pmsl_checker *c, struct pmsl_expr *e)
{
	bool chooses = false;

	e->type.kind = PMSL_T_BOOL;
	for (struct pmsl_expr *a = e->arg; a; a = a->next)
		chooses |= a->type.kind == PMSL_T_CHOICE;
	if (chooses) {
		pmsl_check_choices(c, e, c->takes_times && e->op == PMSL_AND);
		return;
	}
	for (struct pmsl_expr *a = e->arg; a; a = a->next)
		pmsl_want(c, a, PMSL_T_BOOL);
}

static void check_relation(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *a = e->arg, *b = a->next;

	e->type.kind = PMSL_T_BOOL;
	if (a->type.kind == PMSL_T_NONE || b->type.kind == PMSL_T_NONE)
		return;
	if (pmsl_is_key(a) || pmsl_is_key(b)) {
		pmsl_check_key_relation(c, e);
		return;
	}
	if ((pmsl_is_object(a->type.kind) || a->type.kind == PMSL_T_REGION) && !a->type.dims) {
		if (e->op != PMSL_EQ && e->op != PMSL_NE)
			pmsl_wrong(c, e, "a %s is only == or != to another",
				   pmsl_kind_name(a->type.kind));
		else
			pmsl_want(c, b, a->type.kind);
		return;
	}
	if (pmsl_want(c, a, PMSL_T_VALUE) && pmsl_want(c, b, PMSL_T_VALUE)) {
		fit_units(c, e, a->unit, b->unit, pmsl_op_name(e->op));
		e->unit = PMSL_UNIT_ANY;
	}
}

static void check_op(struct pmsl_checker *c, struct pmsl_expr *e)
{
	bool takes_times = c->takes_times;

	/* A condition restricts all values only if AND joins it to the others. */
	c->takes_times = takes_times && e->op == PMSL_AND;
	for (struct pmsl_expr *a = e->arg; a; a = a->next) {
		pmsl_check_expr(c, a);
		take_over(c, e, a);
	}
	c->takes_times = takes_times;
	if (e->op == PMSL_AND || e->op == PMSL_OR || e->op == PMSL_NOT)
		check_logic(c, e);
	else if (e->op >= PMSL_EQ && e->op <= PMSL_GE)
		check_relation(c, e);
	else
		check_arithmetic(c, e);
}

static void check_if(struct pmsl_checker *c, struct pmsl_expr *e)
{
	for (struct pmsl_expr *a = e->arg; a; a = a->next) {
		pmsl_check_expr(c, a);
		take_over(c, e, a);
	}
	e->type.kind = PMSL_T_VALUE;
	pmsl_want(c, e->arg, PMSL_T_BOOL);
	if (pmsl_want(c, e->arg->next, PMSL_T_VALUE) &&
	    pmsl_want(c, e->arg->next->next, PMSL_T_VALUE))
		fit_units(c, e, e->arg->next->unit, e->arg->next->next->unit, "or");
}

static void check_pair(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *x = e->arg, *y = x->next;

	for (struct pmsl_expr *a = x; a; a = a->next) {
		pmsl_check_expr(c, a);
		take_over(c, e, a);
	}
	e->type.kind = PMSL_T_VALUE;
	if (pmsl_want(c, x, PMSL_T_VALUE) && pmsl_want(c, y, PMSL_T_VALUE))
		e->unit = pmsl_unit_product(x->unit, y->unit, 1);
}

/* Times are permitted only where an operator over virtual time uses them. */
static void check_plain(struct pmsl_checker *c, struct pmsl_expr *e)
{
	switch (e->kind) {
	case PMSL_E_NUMBER:
		e->type.kind = PMSL_T_VALUE;
		return;
	case PMSL_E_REGION:
		e->type.kind = PMSL_T_REGION;
		return;
	case PMSL_E_NAME:
		pmsl_check_name(c, e);
		return;
	case PMSL_E_CALL:
		pmsl_check_call(c, e);
		return;
	case PMSL_E_FOLD:
		pmsl_check_fold(c, e);
		return;
	case PMSL_E_ATTR:
		check_attr(c, e);
		return;
	case PMSL_E_INTERVAL:
		check_interval(c, e);
		return;
	case PMSL_E_AT:
		pmsl_check_at(c, e);
		return;
	case PMSL_E_IF:
		check_if(c, e);
		return;
	case PMSL_E_PAIR:
		check_pair(c, e);
		return;
	case PMSL_E_OP:
	case PMSL_E_IN:
		return;
	}
}

void pmsl_check_expr(struct pmsl_checker *c, struct pmsl_expr *e)
{
	bool takes_times = c->takes_times;

	e->unit = PMSL_UNIT_ANY;
	if (e->kind == PMSL_E_OP) {
		check_op(c, e);
		return;
	}
	if (e->kind == PMSL_E_IN) {
		pmsl_check_in(c, e);
		return;
	}
	c->takes_times = false;
	check_plain(c, e);
	c->takes_times = takes_times;
}
