/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: built-in metrics, metrics of the text, functions. */
#include "pmsl/check/checking.h"

#include "pmsl/check/builtin.h"
#include "pmsl/check/function.h"

/*
 * Returns the variable p of the expression p or p.node. Two such expressions with one variable name
 * the same object, whatever its value is.
 */
static const struct pmsl_decl *names_process(const struct pmsl_expr *e)
{
	if (e->kind == PMSL_E_ATTR && e->type.kind == PMSL_T_NODE)
		e = e->arg;
	return e->kind == PMSL_E_NAME && !e->narg ? e->decl : NULL;
}

static void check_own_process(struct pmsl_checker *c, struct pmsl_expr *a)
{
	const struct pmsl_expr *p = c->at ? c->at->arg->next : NULL;

	if (!p || a->type.kind == PMSL_T_NONE || p->type.kind == PMSL_T_NONE)
		return;
	if (names_process(a) && names_process(a) == names_process(p))
		return;
	pmsl_wrong(c, a, "an event of one process says nothing about another object");
	pmsl_hint(c->d, "take the value of each process AT its own event, and aggregate then");
}

static bool is_object_arg(const struct pmsl_expr *a)
{
	return pmsl_is_object(a->type.kind) && a->type.dims <= 1;
}

/* Checks the time for which a built-in metric is requested. */
static void check_builtin_time(struct pmsl_checker *c, struct pmsl_expr *e, struct pmsl_expr *time,
			       const struct pmsl_builtin *b)
{
	bool is_now = pmsl_is_now(time);

	if (b->is_total && time->type.kind != PMSL_T_INTERVAL) {
		pmsl_wrong(c, time, "%s accumulates over time: it takes an interval", b->name);
		pmsl_hint(c->d, "[START,NOW], [LAST,NOW], or a parameter of kind TimeInterval");
	} else if (!b->is_total && !is_now) {
		pmsl_wrong(c, time, "%s has a value at one moment: it takes NOW", b->name);
	}
	e->domain = b->is_total ? time->domain : PMSL_MOMENT;
}

static void check_object_arg(struct pmsl_checker *c, struct pmsl_expr *a,
			     const struct pmsl_builtin *b, bool is_partner)
{
	if (!is_partner && b->object == PMSL_T_NODE && a->type.kind == PMSL_T_PROCESS) {
		pmsl_wrong(c, a, "%s belongs to a node", b->name);
		pmsl_hint(c->d, "p.node is the node of the process p");
	}
	if (!is_partner)
		check_own_process(c, a);
}

/* Regions may follow at the request, so only errors are reported that occur with any regions. */
static void check_builtin_use(struct pmsl_checker *c, struct pmsl_expr *e,
			      const struct pmsl_builtin *b, bool has_partners, bool has_regions)
{
	const struct pmsl_builtin_use use = { .by_partners = has_partners,
					      .by_regions = has_regions && !has_partners };
	const char *refusal = pmsl_builtin_refusal(b, &use);

	if (refusal)
		pmsl_wrong(c, e, "%s %s", b->name, refusal);
}

/*
 * The arguments are [objects [, partners]] [, regions], then the time. Their kinds distinguish
 * them.
 */
static void check_builtin_args(struct pmsl_checker *c, struct pmsl_expr *e,
			       const struct pmsl_builtin *b)
{
	unsigned objects = 0, regions = 0,
		 max = b->object == PMSL_T_NONE ? 0
		       : b->is_by_partner	? 2
						: 1;
	struct pmsl_expr *a;

	for (a = e->arg; a && a->next; a = a->next) {
		if (a->type.kind == PMSL_T_NONE) {
			objects++;
		} else if (is_object_arg(a) && objects < max && !regions) {
			check_object_arg(c, a, b, objects++ > 0);
		} else if (a->type.kind == PMSL_T_REGION &&
			   (b->is_by_partner || b->is_of_region || b->is_by_mount ||
			    b->is_of_plugin) &&
			   !regions) {
			regions++;
		} else {
			pmsl_wrong(c, a, "%s takes %s", b->name, pmsl_builtin_params(b));
			return;
		}
	}
	check_builtin_use(c, e, b, objects > 1, regions > 0);
	if (a && a->type.kind != PMSL_T_NONE)
		check_builtin_time(c, e, a, b);
	else if (!a)
		pmsl_wrong(c, e, "%s takes %s", b->name, pmsl_builtin_params(b));
	if (!objects && max && c->at && a) {
		pmsl_wrong(c, e,
			   "without an object this covers all of them, not the probe's process");
		pmsl_hint(c->d, "give the process: %s(p, ...)", b->name);
	}
}

static void check_builtin(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_builtin b;

	pmsl_builtin_get((unsigned)e->builtin, &b);
	e->type.kind = PMSL_T_VALUE;
	e->domain = PMSL_MOMENT;
	pmsl_unit_parse(c->units, b.unit, &e->unit);
	check_builtin_args(c, e, &b);
}

static void check_metric_arg(struct pmsl_checker *c, struct pmsl_expr *e, struct pmsl_expr *a,
			     const struct pmsl_decl *d)
{
	char have[PMSL_TYPE_BYTES], want[PMSL_TYPE_BYTES];
	bool is_list = a->type.kind == d->type.kind;

	if (a->type.kind == PMSL_T_NONE)
		return;
	if (!is_list || a->type.dims > d->type.dims ||
	    (d->type.kind == PMSL_T_VT && a->type.dims != d->type.dims)) {
		pmsl_wrong(c, a, "the parameter %s of %s is a %s, not a %s", d->name, e->name,
			   pmsl_type_name(d->type, want), pmsl_type_name(a->type, have));
		if (is_list)
			pmsl_hint(c->d, "run over it: Process p; MAX(%s(p, ...) WHERE p IN %s)",
				  e->name, a->name ? a->name : "procs");
		return;
	}
	if (d->type.kind == PMSL_T_TIME && !pmsl_is_now(a)) {
		pmsl_wrong(c, a, "the parameter %s of %s is the moment of a value: it takes NOW",
			   d->name, e->name);
		return;
	}
	if (d->type.kind == PMSL_T_VALUE && a->domain != PMSL_ALWAYS)
		pmsl_wrong(c, a, "the parameter %s of %s takes a constant", d->name, e->name);
	if (pmsl_is_object(d->type.kind))
		check_own_process(c, a);
}

static enum pmsl_domain domain_of_call(const struct pmsl_metric *m, const struct pmsl_expr *time)
{
	if (m->domain == PMSL_SPAN && time)
		return time->domain;
	return m->domain;
}

static void check_metric(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_metric *m = smap_find(&c->metrics, e->name);
	const struct pmsl_decl *d = m->param;
	const struct pmsl_expr *time = NULL;

	e->metric = m;
	m->is_used = true;
	e->type.kind = PMSL_T_VALUE;
	if (e->narg != m->nparam) {
		pmsl_wrong(c, e, "%s takes %u arguments, not %u", m->name, m->nparam, e->narg);
		return;
	}
	for (struct pmsl_expr *a = e->arg; a; a = a->next, d = d->next) {
		check_metric_arg(c, e, a, d);
		if (d == m->time)
			time = a;
	}
	e->type.kind = m->result ? m->result->type.kind : PMSL_T_NONE;
	if (e->type.kind == PMSL_T_TIME)
		e->type.kind = PMSL_T_VALUE;
	e->unit = m->unit;
	e->domain = domain_of_call(m, time);
}

static void check_function(struct pmsl_checker *c, struct pmsl_expr *e)
{
	const struct pmsl_function *f = pmsl_function_get((unsigned)e->function);

	e->type.kind = PMSL_T_VALUE;
	if (e->narg != flow_op_arity(f->op)) {
		pmsl_wrong(c, e, "%s takes %zu argument%s", f->name, flow_op_arity(f->op),
			   flow_op_arity(f->op) == 1 ? "" : "s");
		return;
	}
	for (struct pmsl_expr *a = e->arg; a; a = a->next) {
		e->domain = pmsl_join_domains(c, e, e->domain, a->domain);
		if (!pmsl_want(c, a, PMSL_T_VALUE))
			return;
		if (f->unit == PMSL_F_PLAIN && !pmsl_unit_is_one(a->unit))
			pmsl_wrong(c, a, "%s takes a number without a unit", f->name);
	}
	e->unit = f->unit == PMSL_F_PLAIN ? PMSL_UNIT_ONE : e->arg->unit;
	for (unsigned i = 0; f->unit == PMSL_F_ROOT && i < PMSL_UNIT_BASES; i++) {
		if (e->unit.power[i] % 2)
			pmsl_wrong(c, e, "the unit of the argument has no root");
		e->unit.power[i] = (int8_t)(e->unit.power[i] / 2);
	}
}

static void unknown(struct pmsl_checker *c, struct pmsl_expr *e)
{
	const struct pmsl_metric *m = pmsl_tree_find(c->tree, e->name);

	if (m == c->metric) {
		pmsl_wrong(c, e, "%s uses itself", e->name);
	} else if (m) {
		pmsl_wrong(c, e, "%s is defined below", e->name);
		pmsl_hint(c->d, "a metric uses those above it: move it up");
	} else {
		size_t before = c->d->nerror;

		pmsl_wrong(c, e, "there is no metric or function %s", e->name);
		c->d->nunknown += c->d->nerror - before;
		pmsl_hint_names(c, e->name, true);
	}
}

void pmsl_check_call(struct pmsl_checker *c, struct pmsl_expr *e)
{
	uint64_t vts;

	for (struct pmsl_expr *a = e->arg; a; a = a->next) {
		pmsl_check_expr(c, a);
		e->free |= a->free;
	}
	vts = e->free & c->vt;
	if (vts & (vts - 1))
		pmsl_wrong(c, e, "two virtual times are mixed here");
	e->builtin = pmsl_builtin_find(e->name);
	e->function = pmsl_function_find(e->name);
	if (smap_find(&c->metrics, e->name))
		check_metric(c, e);
	else if (e->builtin >= 0)
		check_builtin(c, e);
	else if (e->function >= 0)
		check_function(c, e);
	else
		unknown(c, e);
}
