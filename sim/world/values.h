/* SPDX-License-Identifier: Apache-2.0 */
/* The values of one read as a tool receives them, and the rules for values of any metric. */
#ifndef SIM_WORLD_VALUES_H
#define SIM_WORLD_VALUES_H

#include "common/flow/graph/token.h"
#include "common/omis/text/token.h"
#include "common/omis/text/value.h"
#include "sim/world/world.h"

struct value {
	char object[TOKEN_BYTES]; /* "": all objects together */
	double value, bound; /* value NaN: there is none */
	nsec_t time, oldest, newest; /* times of mainsm */
	int64_t read, k, n;
	char flags[FLOW_FLAGS_TEXT_BYTES];
};

struct values {
	int64_t read;
	nsec_t until; /* end of the interval, in mainsm's time */
	struct value *v; /* owned */
	size_t n;
};

/* Parses an answer of dfg_read. Fails with ERR_PARSE. */
int values_parse(const char *text, struct values *out);

/*
 * Parses an event of print([$read,$until,$values]): the number of values, read, until, then the
 * values. Fails like values_parse().
 */
int values_parse_print(const char *text, struct values *out);
void values_done(struct values *vs);

/* True if some number in least .. most is within the bound of the value. */
bool value_is_within(const struct value *v, double least, double most);

/*
 * Checks coverage: k of n objects contribute, and a smaller k must be flagged. A missing value must
 * have a reason, and belong to its read. Returns NULL, or the violation.
 */
const char *value_fault(const struct values *vs, const struct value *v);

#endif
