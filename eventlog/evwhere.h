/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions on events: a pattern of names, and comparisons of fields: nbytes > 65536 and host ==
 * "a b" and event != io.*. The text is parsed once. Conditions are evaluated for events, or bound
 * to each type and evaluated for each record.
 */
#ifndef EVENTLOG_EVWHERE_H
#define EVENTLOG_EVWHERE_H

#include "eventlog/evtype.h"

#define EVWHERE_MAX 8 /* largest number of comparisons, which must all hold */
#define EVWHERE_FIELD_BYTES 256 /* a name's 255 bytes and the 0 */
/* a word to compare with, and its 0: each type that is on has a copy */
#define EVWHERE_WORD_BYTES 64

/*
 * True if the pattern is the name, a prefix of it with a *, or "all". "own" matches all names
 * except those of library calls, MPI_...
 */
bool evpattern_fits(const char *pattern, const char *name);

enum evwhere_op { EVWHERE_LT, EVWHERE_LE, EVWHERE_GT, EVWHERE_GE, EVWHERE_EQ, EVWHERE_NE };

struct evtest {
	uint8_t field; /* index of the field, after evwhere_bind() */
	uint8_t op; /* enum evwhere_op */
	bool is_number, is_prefix; /* is_number: `word` is a number; is_prefix: a * followed it */
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
 * Parses FIELD OP VALUE [and FIELD OP VALUE]..., OP one of < <= > >= == !=; "" has no condition. A
 * value is a number or a word. A word ends at the next space, or is in double quotes, where \" and
 * \\ are escapes. Words compare with == and != only. A * at the end of a word without quotes
 * matches any text. ERR_PARSE, ERR_LIMIT.
 */
int evwhere_read(const char *text, struct evwhere *out, struct err *e);

/*
 * True if the comparison holds. Numbers are compared with numbers, strings with the word as text.
 */
bool evtest_holds(const struct evtest *t, const struct evvalue *v);

/* Tests that are bound to a type. */
struct evtests {
	unsigned n;
	struct evtest v[EVWHERE_MAX];
};

/*
 * Binds the conditions to a type: a field is one of the type, a constant of it, or `event`, its
 * name. Returns false if no event of the type can satisfy them: a constant does not, or a field is
 * missing or of another kind, even with !=.
 */
bool evwhere_bind(const struct evwhere *w, const struct evtype *t, struct evtests *out);

/* Evaluates n bytes of values, in the layout of records of this machine. */
bool evtests_pass(const struct evtests *s, const struct evtype *t, const uint8_t *values, size_t n);

/* True if the bytes are values of t's fields, and at most three bytes of padding. */
bool evtype_fits_values(const struct evtype *t, const uint8_t *values, size_t n);

#endif
