/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of events: a pattern of names, and comparisons of fields: nbytes > 65536 and host
 * == "a b" and event != io.*. Read once as text; asked of events, or bound once to each type and
 * asked of each record.
 */
#ifndef EVENTLOG_EVWHERE_H
#define EVENTLOG_EVWHERE_H

#include "eventlog/evtype.h"

#define EVWHERE_MAX 8 /* comparisons; all must hold */
#define EVWHERE_FIELD_BYTES 256 /* a name's 255 bytes and the 0 */
/* of a word that is compared with, and the 0: each type that is on keeps them */
#define EVWHERE_WORD_BYTES 64

/* A name, a beginning of names with a * behind it, or "all". */
bool evpattern_fits(const char *pattern, const char *name);

enum evwhere_op { EVWHERE_LT, EVWHERE_LE, EVWHERE_GT, EVWHERE_GE, EVWHERE_EQ, EVWHERE_NE };

struct evtest {
	uint8_t field; /* its place, once bound */
	uint8_t op; /* enum evwhere_op */
	bool is_number, is_prefix; /* `word` is a number; a * stood behind it */
	double number;
	char word[EVWHERE_WORD_BYTES];
};

struct evwhere {
	unsigned n;
	struct evcompare {
		char field[EVWHERE_FIELD_BYTES];
		struct evtest test;
	} v[EVWHERE_MAX];
};

/*
 * FIELD OP VALUE [and FIELD OP VALUE]..., OP one of < <= > >= == !=; "" asks for nothing. A value
 * is a number or a word. A word goes to the next space, or stands in double quotes, in which \" and
 * \\ are escapes. Words compare with == and != alone. A * at the end of a word without quotes
 * stands for anything. ERR_PARSE, ERR_LIMIT.
 */
int evwhere_read(const char *text, struct evwhere *out, struct err *e);

/* A number is compared with a number; a string with the word, in which a number is text too. */
bool evtest_holds(const struct evtest *t, const struct evvalue *v);

/* Bound to a type. */
struct evtests {
	unsigned n;
	struct evtest v[EVWHERE_MAX];
};

/*
 * A field is one of the type or a constant of it, or `event`, its name. False: no event of the type
 * fulfils it. Either a constant says so, or a field is not there. Or a field is compared with what
 * it can never be: != too.
 */
bool evwhere_bind(const struct evwhere *w, const struct evtype *t, struct evtests *out);

/* Asked of n bytes of values as a record of this machine has them. */
bool evtests_pass(const struct evtests *s, const struct evtype *t, const uint8_t *values, size_t n);

/* They are the values of t's fields, with nothing behind them but up to three bytes of padding. */
bool evtype_fits_values(const struct evtype *t, const uint8_t *values, size_t n);

#endif
