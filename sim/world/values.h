/* SPDX-License-Identifier: Apache-2.0 */
/* The values of one read of a measurement, as a tool gets them. Also what holds of each value,
 * whatever was measured. */
#ifndef SIM_WORLD_VALUES_H
#define SIM_WORLD_VALUES_H

#include "common/flow/graph/token.h"
#include "common/omis/text/token.h"
#include "common/omis/text/value.h"
#include "sim/world/world.h"

struct value {
	char object[TOKEN_BYTES]; /* "": of all */
	double value, bound; /* value NaN: none */
	nsec_t time, oldest, newest; /* mainsm's */
	int64_t read, k, n;
	char flags[FLOW_FLAGS_TEXT_BYTES];
};

struct values {
	int64_t read;
	nsec_t until; /* mainsm's: the end of the interval */
	struct value *v; /* owned */
	size_t n;
};

/* From an answer of dfg_read. -ERR_PARSE: it has another form. */
int values_parse(const char *text, struct values *out);

/* What print([$read,$until,$values]) writes of an event: how many there are, read, until, then the
 * values. As values_parse(). */
int values_parse_print(const char *text, struct values *out);
void values_done(struct values *vs);

/* The truth may be anything from least to most, and the value is not farther from it than its
 * bound. */
bool value_is_within(const struct value *v, double least, double most);

/*
 * k of n are in it, and where k is less it says so; one that is none says why, and is of the read
 * that it came with. NULL, or what is wrong.
 */
const char *value_fault(const struct values *vs, const struct value *v);

#endif
