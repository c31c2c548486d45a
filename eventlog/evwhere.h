/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of events: a pattern of names, and comparisons of fields. Read once as text, bound once to each
 * type, asked of each record.
 */
#ifndef EVENTLOG_EVWHERE_H
#define EVENTLOG_EVWHERE_H

#include "eventlog/evtype.h"

#define EVWHERE_MAX 8 /* comparisons; all must hold */
#define EVWHERE_FIELD_BYTES 256 /* a name's 255 bytes and the 0 */

/* A name, a beginning of names with a * behind it, or "all". */
bool evpattern_fits(const char *pattern, const char *name);

enum evwhere_op { EVWHERE_LT, EVWHERE_LE, EVWHERE_GT, EVWHERE_GE, EVWHERE_EQ, EVWHERE_NE };

struct evwhere {
	unsigned n;
	struct evcompare {
		char field[EVWHERE_FIELD_BYTES];
		enum evwhere_op op;
		double value;
	} v[EVWHERE_MAX];
};

/* "FIELD OP NUMBER and FIELD OP NUMBER ...", in words; "" asks for nothing. ERR_PARSE, ERR_LIMIT. */
int evwhere_read(const char *text, struct evwhere *out, struct err *e);

/* Bound to a type. */
struct evtests {
	unsigned n;
	struct evtest {
		uint8_t field;
		uint8_t op; /* enum evwhere_op */
		double value;
	} v[EVWHERE_MAX];
};

/* False: a field that is not there, or a string, of which nothing holds. */
bool evwhere_bind(const struct evwhere *w, const struct evtype *t, struct evtests *out);

/* Asked of n bytes of values as a record of this machine has them. */
bool evtests_pass(const struct evtests *s, const struct evtype *t, const uint8_t *values, size_t n);

/* They are the values of t's fields, from the first byte to the last but for up to three of padding. */
bool evtype_fits_values(const struct evtype *t, const uint8_t *values, size_t n);

#endif
