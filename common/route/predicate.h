/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicates among the actions of a conditional request, which decide which events pass. Predicates
 * before all other actions are evaluated where the event is detected, others in mainsm. Pure: time
 * is an argument.
 *
 *	omig_if(a, "op", b)	numbers by value, texts (strings, tokens) by their bytes; a number
 *				and a text differ and have no order. A parameter without a
 *				value lets nothing pass.
 *	omig_every(n)		the n-th event, the 2n-th, ...
 *	omig_at_most(r)		of those within a second floor(r), at least one; the second begins
 *				with one that passes. r below 1: one in 1/r seconds.
 */
#ifndef COMMON_ROUTE_PREDICATE_H
#define COMMON_ROUTE_PREDICATE_H

#include "common/base/clock.h"
#include "common/omis/services/check.h"

#include <stdbool.h>

struct predicates;

bool predicate_is(const struct omis_call *call);

/*
 * Reads the predicates of a checked request, which is borrowed. *out is NULL if it has none. Fails
 * with ERR_INVALID, and a text, for an invalid operator, number or rate, and with ERR_NOMEM.
 */
int predicates_new(const struct omis_request *r, struct predicates **out, struct err *e);
void predicates_free(struct predicates *f);

/* Returns the number of predicates before all other actions. f may be NULL. */
size_t predicates_leading(const struct predicates *f);

/*
 * True if the event passes all leading predicates. Evaluation stops at the first predicate that
 * refuses it. f may be NULL.
 */
bool predicates_pass(struct predicates *f, const struct omis_ecps *ecps, nsec_t now);

/* Evaluates the predicate that is action number i (from 0), with its parameters bound. */
bool predicate_passes(struct predicates *f, size_t i, const struct omis_call *bound, nsec_t now);

/* Copies the counts of `from`, an equal list. Either may be NULL. */
void predicates_continue(struct predicates *f, const struct predicates *from);

/* A comparison such as "$par8 > 65536": one parameter of the event with a constant. */
enum predicate_op {
	PREDICATE_EQ,
	PREDICATE_NE,
	PREDICATE_LT,
	PREDICATE_LE,
	PREDICATE_GT,
	PREDICATE_GE
};
struct predicate_test {
	unsigned par;
	enum predicate_op op;
	double value;
};

/* True if the only leading predicate is one such comparison, so that the rank can evaluate it. */
bool predicates_simple(const struct predicates *f, struct predicate_test *out);

#endif
