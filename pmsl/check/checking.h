/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the check. */
#ifndef PMSL_CHECK_CHECKING_H
#define PMSL_CHECK_CHECKING_H

#include "common/container/map.h"
#include "pmsl/check/check.h"

struct pmsl_checker {
	struct pmsl_tree *tree;
	struct pmsl_units *units;
	struct pmsl_diags *d;
	struct smap metrics; /* by name: metrics above the current one */
	struct smap names; /* by name: declarations of the metric that is checked */
	struct pmsl_metric *metric;
	uint64_t held; /* free variables that an enclosing expression binds */
	uint64_t vt; /* all variables of kind VirtualTime, and the parameter of that kind */
	uint64_t objects; /* all variables of kind Process, Node and Site */
	const struct pmsl_expr *at; /* the AT whose left side is checked now */
	bool takes_times; /* `.time IN t` is permitted here */
	const struct pmsl_expr *times; /* the condition `.time IN t` that was found */
	const struct pmsl_expr *chosen; /* a choice of virtual times that was found in this WHERE */
	bool is_nomem;
};

/* Checks types, units, domains and free variables of e and everything below. */
void pmsl_check_expr(struct pmsl_checker *c, struct pmsl_expr *e);

/* --- parts of the check, one file each */
void pmsl_check_call(struct pmsl_checker *c, struct pmsl_expr *e);
void pmsl_check_fold(struct pmsl_checker *c, struct pmsl_expr *e);
void pmsl_check_at(struct pmsl_checker *c, struct pmsl_expr *e);
void pmsl_check_in(struct pmsl_checker *c, struct pmsl_expr *e);

/* --- check_choice.c: conditions on virtual times */

/* True for a virtual time, and for a number that is computed from one. */
bool pmsl_is_key(const struct pmsl_expr *e);
/* Checks vt % 10, and sums of such terms and numbers. */
void pmsl_check_key(struct pmsl_checker *c, struct pmsl_expr *e);
/* Checks vt > 10. */
void pmsl_check_key_relation(struct pmsl_checker *c, struct pmsl_expr *e);
/* Checks vt IN [10, 20] or vt IN list, whose left side is checked already. */
void pmsl_check_key_in(struct pmsl_checker *c, struct pmsl_expr *e);
/*
 * Checks AND, OR and NOT of conditions, some of which choose virtual times. takes_others: other
 * conditions may be joined to them.
 */
void pmsl_check_choices(struct pmsl_checker *c, struct pmsl_expr *e, bool takes_others);
/* Requires a condition, or a choice of virtual times, behind WHERE. */
void pmsl_want_condition(struct pmsl_checker *c, struct pmsl_expr *e);

/* --- errors; each leaves e without a type, which fits any other */
void pmsl_wrong(struct pmsl_checker *c, struct pmsl_expr *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Reports "expected a number, found a Process[]"; true if e is (or may be) of that kind and no
 * array.
 */
bool pmsl_want(struct pmsl_checker *c, struct pmsl_expr *e, enum pmsl_kind kind);

bool pmsl_is_array(const struct pmsl_expr *e);

/* True for NOW, and for a parameter that stands for NOW. */
bool pmsl_is_now(const struct pmsl_expr *e);

/* Returns the domain of an expression with parts of both domains; reports a conflict at e. */
enum pmsl_domain pmsl_join_domains(struct pmsl_checker *c, struct pmsl_expr *e, enum pmsl_domain a,
				   enum pmsl_domain b);

/* Numbers a free variable at its first use. Returns false if there are too many. */
bool pmsl_number_variable(struct pmsl_checker *c, struct pmsl_decl *d);

/* Suggests the visible name that is nearest to an unknown one. */
void pmsl_hint_names(struct pmsl_checker *c, const char *name, bool is_call);

#endif
