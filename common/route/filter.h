/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters among the actions of a conditional request: which events go on.
 * Those in front of all other actions are asked where the event is seen, those
 * behind at the top. Pure: time is an argument.
 *
 *	omig_if(a, "op", b)	numbers by value, texts (strings, tokens) by their bytes; a number
 *				and a text differ and have no order. A parameter without a
 *				value lets nothing pass.
 *	omig_every(n)		the n-th event that comes to it, the 2n-th, ...
 *	omig_at_most(r)		of those within a second floor(r), at least one; the second begins
 *				with one that passes. r below 1: one in 1/r seconds.
 */
#ifndef COMMON_ROUTE_FILTER_H
#define COMMON_ROUTE_FILTER_H

#include "common/base/clock.h"
#include "common/omis/services/check.h"

#include <stdbool.h>

struct filters;

bool filter_is(const struct omis_call *call);

/*
 * The filters of a checked request, which is borrowed; *out is NULL when it has none.
 * -ERR_INVALID with words: an operator, a number or a rate that makes no sense; -ERR_NOMEM.
 */
int filters_new(const struct omis_request *r, struct filters **out, struct err *e);
void filters_free(struct filters *f);

/* How many actions of the list are filters that stand in front. f may be NULL. */
size_t filters_leading(const struct filters *f);

/* Do all leading ones let it pass? A filter behind one that did not is not asked. f may be NULL. */
bool filters_pass(struct filters *f, const struct omis_ecps *ecps, nsec_t now);

/* The filter that is action number i (from 0), with its parameters bound. */
bool filter_passes(struct filters *f, size_t i, const struct omis_call *bound, nsec_t now);

/* Goes on counting where `from`, of an equal list, is. Either may be NULL. */
void filters_continue(struct filters *f, const struct filters *from);

/* "$par8 > 65536": one parameter of the event against a constant. */
enum filter_op { FILTER_EQ, FILTER_NE, FILTER_LT, FILTER_LE, FILTER_GT, FILTER_GE };
struct filter_test {
	unsigned par;
	enum filter_op op;
	double value;
};

/* True when this one comparison is all that stands in front: the rank can evaluate it itself. */
bool filters_simple(const struct filters *f, struct filter_test *out);

#endif
