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
	struct smap metrics; /* name -> struct pmsl_metric, those above the current one */
	struct smap names; /* name -> struct pmsl_decl, of the metric that is examined */
	struct pmsl_metric *metric;
	uint64_t held; /* free variables that are bound by an expression around */
	uint64_t vt; /* all variables of kind VirtualTime, the parameter too */
	const struct pmsl_expr *at; /* the AT whose left side is checked now */
	bool takes_times; /* `.time IN t` is permitted here */
	const struct pmsl_expr *times; /* the one that was found */
	const struct pmsl_expr *chosen; /* a choice of virtual times that was found in this WHERE */
	bool is_nomem;
};

/* Checks types, units, domains and free variables of e and everything below. */
void pmsl_check_expr(struct pmsl_checker *c, struct pmsl_expr *e);

/* --- its parts, one file each */
void pmsl_check_call(struct pmsl_checker *c, struct pmsl_expr *e);
void pmsl_check_fold(struct pmsl_checker *c, struct pmsl_expr *e);
void pmsl_check_at(struct pmsl_checker *c, struct pmsl_expr *e);
void pmsl_check_in(struct pmsl_checker *c, struct pmsl_expr *e);

/* --- check_choice.c: conditions on virtual times */

/* A virtual time, or a number that one gives. */
bool pmsl_is_key(const struct pmsl_expr *e);
/* vt % 10, and sums of that and numbers. */
void pmsl_check_key(struct pmsl_checker *c, struct pmsl_expr *e);
/* vt > 10 */
void pmsl_check_key_relation(struct pmsl_checker *c, struct pmsl_expr *e);
/* vt IN [10, 20], vt IN list; its left side is checked. */
void pmsl_check_key_in(struct pmsl_checker *c, struct pmsl_expr *e);
/*
 * Checks AND, OR and NOT of conditions, some of which choose virtual times. takes_others: others
 * may be joined to these.
 */
void pmsl_check_choices(struct pmsl_checker *c, struct pmsl_expr *e, bool takes_others);
/* The condition of WHERE is one, or a choice. */
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

/* NOW, or a parameter that is it. */
bool pmsl_is_now(const struct pmsl_expr *e);

/* The domain of an expression over both; a conflict is reported at e. */
enum pmsl_domain pmsl_join_domains(struct pmsl_checker *c, struct pmsl_expr *e, enum pmsl_domain a,
				   enum pmsl_domain b);

/* Numbers a free variable at its first use. Returns false if there are too many. */
bool pmsl_number_variable(struct pmsl_checker *c, struct pmsl_decl *d);

/* For an unknown name: suggests the nearest of the visible names. */
void pmsl_hint_names(struct pmsl_checker *c, const char *name, bool is_call);

#endif
