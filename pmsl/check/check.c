/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics, declarations, assignments. */
#include "common/base/err.h"
#include "pmsl/check/builtin.h"
#include "pmsl/check/checking.h"

#include <string.h>

static void declare(struct pmsl_checker *c, struct pmsl_decl *d)
{
	struct pmsl_decl *before = smap_find(&c->names, d->name);

	if (before) {
		pmsl_error(c->d, d->at, d->len, "%s is declared twice", d->name);
		return;
	}
	c->is_nomem |= smap_put(&c->names, d->name, d, NULL) != 0;
}

/* Checks the permitted types of a metric's parameters. */
static void check_param_type(struct pmsl_checker *c, struct pmsl_decl *d)
{
	bool is_list = d->type.kind == PMSL_T_VT && d->type.dims;
	bool is_time = (d->type.kind == PMSL_T_VT || d->type.kind == PMSL_T_INTERVAL ||
			d->type.kind == PMSL_T_TIME) &&
		       !is_list;

	if (d->type.dims > 1 || (d->type.dims && (is_time || d->type.kind == PMSL_T_VALUE)))
		pmsl_error(
			c->d, d->at, d->len,
			"a parameter is a single value, or a list of objects, regions or virtual times");
	if (!is_time)
		return;
	if (c->metric->time)
		pmsl_error(c->d, d->at, d->len, "a metric has one parameter of time");
	c->metric->time = d;
	if (d->type.kind == PMSL_T_VT && pmsl_number_variable(c, d))
		c->held |= UINT64_C(1) << d->number;
}

static void check_params(struct pmsl_checker *c)
{
	for (struct pmsl_decl *d = c->metric->param; d; d = d->next) {
		declare(c, d);
		check_param_type(c, d);
	}
}

/* PROBE e(Process, VirtualTime, Value residuum) */
static void check_probe(struct pmsl_checker *c, struct pmsl_decl *p)
{
	if (p->nparam < 2 || p->param->type.kind != PMSL_T_PROCESS ||
	    p->param->next->type.kind != PMSL_T_VT || p->param->type.dims ||
	    p->param->next->type.dims) {
		pmsl_error(c->d, p->at, p->len,
			   "the first parameters of a probe are Process, VirtualTime");
		return;
	}
	for (struct pmsl_decl *d = p->param; d; d = d->next) {
		d->probe = p;
		if (d->position > 1 && (d->type.kind != PMSL_T_VALUE || d->type.dims))
			pmsl_error(c->d, d->at, d->len,
				   "the other parameters of a probe are of type Value");
	}
}

/* Only indices, and a virtual time that is a parameter, may stay free. */
static void check_left_over(struct pmsl_checker *c, const struct pmsl_expr *value)
{
	uint64_t left = value->free & ~c->held;
	struct smap_iter i = { 0 };

	while (left && smap_next(&c->names, &i)) {
		const struct pmsl_decl *d = i.value;

		if (d->number < 0 || !(left >> d->number & 1))
			continue;
		pmsl_error(c->d, value->at, value->len,
			   "%s is free here: nothing says which one is meant", d->name);
		pmsl_hint(c->d,
			  "index the left side, x[%s] = ..., or run over it, SUM(... WHERE %s ...)",
			  d->name, d->name);
		return;
	}
}

static uint64_t check_index(struct pmsl_checker *c, struct pmsl_names *index)
{
	uint64_t set = 0;

	for (; index; index = index->next) {
		struct pmsl_decl *d = smap_find(&c->names, index->name);

		if (!d || d->kind != PMSL_D_VARIABLE || d->value || d->type.kind == PMSL_T_VALUE ||
		    d->type.dims) {
			pmsl_error(c->d, index->at, (uint32_t)strlen(index->name),
				   "%s is not a free variable", index->name);
			if (!d)
				pmsl_hint_names(c, index->name, false);
			continue;
		}
		d->is_used = true;
		index->decl = d;
		if (!pmsl_number_variable(c, d))
			continue;
		if (set >> d->number & 1)
			pmsl_error(c->d, index->at, (uint32_t)strlen(index->name),
				   "%s stands twice", index->name);
		set |= UINT64_C(1) << d->number;
	}
	return set;
}

/* Reports a value of another kind than the variable. */
static void check_value_type(struct pmsl_checker *c, const struct pmsl_decl *d,
			     struct pmsl_expr *value)
{
	char have[PMSL_TYPE_BYTES], want[PMSL_TYPE_BYTES];
	struct pmsl_type wanted = d->type;

	if (d->index)
		wanted.dims = 0;
	if (value->type.kind == PMSL_T_NONE ||
	    (value->type.kind == wanted.kind && value->type.dims == wanted.dims))
		return;
	if (wanted.kind == PMSL_T_VALUE && !wanted.dims && value->type.kind == PMSL_T_TIME)
		return;
	pmsl_wrong(c, value, "%s is a %s, this is a %s", d->name, pmsl_type_name(wanted, want),
		   pmsl_type_name(value->type, have));
}

static void set_value(struct pmsl_checker *c, struct pmsl_decl *d, struct pmsl_names *index,
		      struct pmsl_expr *value)
{
	uint64_t held = c->held;

	c->held |= check_index(c, index);
	pmsl_check_expr(c, value);
	check_left_over(c, value);
	c->held = held;
	d->index = index;
	check_value_type(c, d, value);
	if (pmsl_is_result(value->type.kind))
		pmsl_wrong(c, value, "a %s can only be returned", pmsl_kind_name(value->type.kind));
	d->value = value;
}

static void check_declaration(struct pmsl_checker *c, struct pmsl_decl *d)
{
	struct pmsl_expr *value = d->value;

	d->value = NULL;
	if (value)
		set_value(c, d, NULL, value);
	declare(c, d);
	if (d->kind == PMSL_D_PROBE)
		check_probe(c, d);
}

static unsigned count(const struct pmsl_names *n)
{
	unsigned k = 0;

	for (; n; n = n->next)
		k++;
	return k;
}

static void check_assignment(struct pmsl_checker *c, struct pmsl_stmt *s)
{
	struct pmsl_decl *d = smap_find(&c->names, s->name);

	if (!d || d->kind != PMSL_D_VARIABLE) {
		pmsl_error(c->d, s->at, s->len, d ? "%s is not a variable" : "%s is not declared",
			   s->name);
		if (!d)
			pmsl_hint_names(c, s->name, false);
	} else if (d->value) {
		pmsl_error(c->d, s->at, s->len, "%s is set a second time", s->name);
	} else if (d->number >= 0) {
		pmsl_error(c->d, s->at, s->len, "%s has been used as a free variable above",
			   s->name);
	} else if (d->type.dims != count(s->index)) {
		pmsl_error(c->d, s->at, s->len, "%s has %u dimension%s, and is set with %u",
			   s->name, d->type.dims, d->type.dims == 1 ? "" : "s", count(s->index));
		pmsl_hint(c->d, "declare it with a [] for each index: Value[] %s;", s->name);
	} else {
		set_value(c, d, s->index, s->value);
	}
}

static void check_unit(struct pmsl_checker *c)
{
	struct pmsl_metric *m = c->metric;
	char have[PMSL_UNIT_TEXT_BYTES], want[PMSL_UNIT_TEXT_BYTES];
	uint32_t len;

	m->unit = m->result->unit;
	if (!m->unit_text)
		return;
	len = (uint32_t)strlen(m->unit_text);
	if (pmsl_unit_parse(c->units, m->unit_text, &m->unit)) {
		pmsl_error(c->d, m->unit_at, len, "this is not a unit");
		pmsl_hint(c->d, "names joined by * and /: \"B/s\"; at most %d of them are your own",
			  PMSL_UNIT_BASES - 4);
	} else if (!pmsl_unit_fits(m->unit, m->result->unit) &&
		   !pmsl_unit_is_one(m->result->unit)) {
		pmsl_error(c->d, m->unit_at, len, "the value is in %s, not in %s",
			   pmsl_unit_text(c->units, m->result->unit, have),
			   pmsl_unit_text(c->units, m->unit, want));
	}
}

static void check_return(struct pmsl_checker *c, struct pmsl_stmt *s)
{
	struct pmsl_metric *m = c->metric;

	if (m->result) {
		pmsl_error(c->d, s->at, s->len, "a second RETURN");
		return;
	}
	m->result = s->value;
	pmsl_check_expr(c, s->value);
	check_left_over(c, s->value);
	if (!pmsl_is_result(s->value->type.kind))
		pmsl_want(c, s->value, PMSL_T_VALUE);
	m->domain = s->value->domain;
	check_unit(c);
	if (s->next && s->next->kind != PMSL_S_RETURN)
		pmsl_warn(c->d, s->next->at, s->next->len,
			  "statements behind RETURN have no effect");
}

static void check_stmts(struct pmsl_checker *c)
{
	for (struct pmsl_stmt *s = c->metric->stmt; s && !c->d->is_full && !c->is_nomem;
	     s = s->next) {
		if (s->kind == PMSL_S_DECLARE)
			check_declaration(c, s->decl);
		else if (s->kind == PMSL_S_ASSIGN)
			check_assignment(c, s);
		else
			check_return(c, s);
	}
	if (!c->metric->result && !c->d->is_full)
		pmsl_error(c->d, c->metric->at, c->metric->len, "%s returns nothing",
			   c->metric->name);
}

static void warn_unused(struct pmsl_checker *c, const struct pmsl_decl *d, const char *what)
{
	if (!d->is_used)
		pmsl_warn(c->d, d->at, d->len, "the %s %s is not used", what, d->name);
}

static void check_unused(struct pmsl_checker *c)
{

	for (const struct pmsl_decl *d = c->metric->param; d; d = d->next)
		warn_unused(c, d, "parameter");
	for (const struct pmsl_stmt *s = c->metric->stmt; s; s = s->next)
		if (s->kind == PMSL_S_DECLARE)
			warn_unused(c, s->decl,
				    s->decl->kind == PMSL_D_PROBE ? "probe" : "variable");
}

static void check_metric_name(struct pmsl_checker *c)
{
	const struct pmsl_metric *m = c->metric;

	if (smap_find(&c->metrics, m->name))
		pmsl_error(c->d, m->at, m->len, "there is a metric %s above", m->name);
	else if (pmsl_builtin_find(m->name) >= 0)
		pmsl_error(c->d, m->at, m->len, "%s is a built-in metric", m->name);
}

static void check_metric(struct pmsl_checker *c, struct pmsl_metric *m)
{
	size_t nerror = c->d->nerror;

	smap_init(&c->names);
	c->metric = m;
	c->held = c->vt = 0;
	c->at = c->times = c->chosen = NULL;
	check_metric_name(c);
	check_params(c);
	check_stmts(c);
	m->is_good = c->d->nerror == nerror && !c->d->is_full;
	if (m->is_good)
		check_unused(c);
	smap_done(&c->names);
	if (!smap_find(&c->metrics, m->name))
		c->is_nomem |= smap_put(&c->metrics, m->name, m, NULL) != 0;
}

/* Makes metrics of another text known, except those whose names this text defines itself. */
static void know(struct pmsl_checker *c, struct pmsl_tree *of)
{
	for (struct pmsl_metric *m = of->metric; m; m = m->next) {
		if (!m->is_good || pmsl_tree_find(c->tree, m->name))
			continue;
		m->is_elsewhere = true;
		c->is_nomem |= smap_put(&c->metrics, m->name, m, NULL) != 0;
	}
}

int pmsl_check(struct pmsl_tree *t, struct pmsl_units *units, struct pmsl_diags *d)
{
	struct pmsl_checker c = { .tree = t, .units = units, .d = d };

	smap_init(&c.metrics);
	for (size_t i = 0; i < t->nknown; i++)
		know(&c, t->known[i]);
	for (struct pmsl_metric *m = t->metric; m && !d->is_full && !c.is_nomem; m = m->next)
		check_metric(&c, m);
	smap_done(&c.metrics);
	return c.is_nomem ? -ERR_NOMEM : 0;
}
