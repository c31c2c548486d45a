/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choices of virtual times: conditions on them and on constants alone. They are in WHERE, joined to
 * other conditions by AND. So the other conditions are not evaluated for virtual times that are not
 * chosen.
 */
#include "pmsl/check/checking.h"

bool pmsl_is_key(const struct pmsl_expr *e)
{
	return (e->type.kind == PMSL_T_VT && !e->type.dims) || e->type.kind == PMSL_T_KEY;
}

/* Requires a whole number that is known before the measurement. */
static bool want_constant(struct pmsl_checker *c, struct pmsl_expr *e)
{
	if (e->type.kind == PMSL_T_NONE)
		return false;
	if (e->type.kind != PMSL_T_VALUE || e->type.dims || e->domain != PMSL_ALWAYS ||
	    !pmsl_unit_is_one(e->unit)) {
		pmsl_wrong(c, e, "virtual times are chosen by whole numbers that never change");
		pmsl_hint(c->d, "a number, or a parameter of kind Value: vt > 10, vt %% n == 0");
		return false;
	}
	if (e->kind == PMSL_E_NUMBER && !e->is_integer) {
		pmsl_wrong(c, e, "virtual times are whole numbers");
		return false;
	}
	return true;
}

void pmsl_check_key(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *a = e->arg, *b = a->next;

	e->type.kind = PMSL_T_KEY;
	if (e->op != PMSL_MOD && e->op != PMSL_ADD && e->op != PMSL_SUB) {
		pmsl_wrong(c, e, "of virtual times only + - %% are taken");
		pmsl_hint(c->d, "each tenth one: vt %% 10 == 0");
	} else if (!pmsl_is_key(b) && want_constant(c, b) && e->op == PMSL_MOD &&
		   b->kind == PMSL_E_NUMBER && b->number == 0) {
		pmsl_wrong(c, b, "a division by zero chooses nothing");
	}
}

static void found(struct pmsl_checker *c, struct pmsl_expr *e)
{
	e->type = (struct pmsl_type){ PMSL_T_CHOICE, 0 };
	e->domain = PMSL_ALWAYS;
	e->unit = PMSL_UNIT_ANY;
	c->chosen = e;
	if (c->at) {
		pmsl_wrong(c, e, "virtual times are not chosen in the left side of AT");
		pmsl_hint(c->d, "choose in the WHERE around: SUM(x[vt] WHERE vt > 10)");
	}
}

void pmsl_check_key_relation(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *a = e->arg, *b = a->next;

	if ((pmsl_is_key(a) || want_constant(c, a)) && (pmsl_is_key(b) || want_constant(c, b)))
		found(c, e);
	else
		e->type.kind = PMSL_T_NONE;
}

void pmsl_check_key_in(struct pmsl_checker *c, struct pmsl_expr *e)
{
	struct pmsl_expr *b = e->arg->next;
	char right[PMSL_TYPE_BYTES];

	if (b->kind == PMSL_E_INTERVAL) {
		for (struct pmsl_expr *end = b->arg; end; end = end->next) {
			pmsl_check_expr(c, end);
			e->free |= end->free;
			if (end->type.kind == PMSL_T_NONE || !want_constant(c, end))
				return;
		}
		if (b->arg->kind == PMSL_E_NUMBER && b->arg->next->kind == PMSL_E_NUMBER &&
		    b->arg->number > b->arg->next->number)
			pmsl_warn(c->d, b->at, b->len, "no virtual time lies there");
		found(c, e);
		return;
	}
	pmsl_check_expr(c, b);
	e->free |= b->free;
	if (b->type.kind == PMSL_T_NONE)
		return;
	if (b->type.kind == PMSL_T_VT && b->type.dims == 1) {
		found(c, e);
		return;
	}
	pmsl_wrong(c, e, "a virtual time is not IN a %s", pmsl_type_name(b->type, right));
	pmsl_hint(c->d, b->type.kind == PMSL_T_INTERVAL
				? "its value has a time: x[vt].time IN t"
				: "[10, 20], or a parameter of kind VirtualTime[]");
}

static bool is_choice(const struct pmsl_expr *e)
{
	return e->type.kind == PMSL_T_CHOICE;
}

void pmsl_check_choices(struct pmsl_checker *c, struct pmsl_expr *e, bool takes_others)
{
	bool all = true;

	for (struct pmsl_expr *a = e->arg; a; a = a->next) {
		all &= is_choice(a) || a->type.kind == PMSL_T_NONE;
		if (!is_choice(a))
			pmsl_want(c, a, PMSL_T_BOOL);
	}
	e->type.kind = all ? PMSL_T_CHOICE : PMSL_T_BOOL;
	if (all || takes_others)
		return;
	pmsl_wrong(c, e,
		   "a choice of virtual times is joined to other conditions by AND, in WHERE");
	pmsl_hint(c->d, "SUM(x[vt] WHERE vt > 10 AND x[vt] > 0)");
}

void pmsl_want_condition(struct pmsl_checker *c, struct pmsl_expr *e)
{
	if (!is_choice(e))
		pmsl_want(c, e, PMSL_T_BOOL);
}
