/* SPDX-License-Identifier: Apache-2.0 */
/* A token: one value of one key, and its properties. */
#ifndef COMMON_FLOW_GRAPH_TOKEN_H
#define COMMON_FLOW_GRAPH_TOKEN_H

#include "common/base/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Reasons why a token is incomplete or late. docs/protocol.md has the numbers. */
enum flow_flag {
	FLOW_PARTIAL = 1, /* some contributors are missing */
	FLOW_STALE = 2, /* the source reported an old sample */
	FLOW_LATE = 4, /* it has data of an interval that was read before */
	FLOW_NONE_YET = 8, /* an open call reports nothing before its end */
	FLOW_DIV0 = 16, /* something was divided by zero */
	/* a result was not finite: inf - inf, sqrt(-1), or an overflow */
	FLOW_NAN = 32,
	FLOW_MISSING = 64, /* an input is missing, or a set is empty */
	FLOW_EXCLUDED = 128, /* WHERE was false: sets ignore the token */
	FLOW_LOST = 256, /* a queue was full, so that tokens are missing */
	/* a source has ended; if all have, the newest data are from the end of the last one */
	FLOW_ENDED = 512,
	FLOW_FLAGS_ALL = 1023,
};

/* A token without a value has NaN, and a flag with the reason. An infinite value has FLOW_NAN. */
struct flow_token {
	int64_t key; /* virtual time, or number of the read */
	double value;
	double error; /* bound of the distance to the true value, >= 0; INFINITY: unknown */
	nsec_t time; /* mainsm's time; for combined values the mean */
	nsec_t oldest, newest; /* times of the data in it */
	uint32_t k, n; /* k of n contributors are in it; 0 of 0: a constant */
	uint32_t flags; /* enum flow_flag */
	uint32_t requester; /* the measurement; 0: any that reads it */
};

_Static_assert(sizeof(struct flow_token) == 64, "one line of the cache");

static inline bool flow_token_has_value(const struct flow_token *t)
{
	return !isnan(t->value);
}

/* Makes a token of one contributor, sampled at that time. A bound of NaN becomes infinite. */
struct flow_token flow_token_make(int64_t key, double value, double error, nsec_t time);
struct flow_token flow_token_constant(double value);

/* Makes a token for n contributors, which are all missing. */
struct flow_token flow_token_missing(int64_t key, nsec_t time, uint32_t n);

/* Returns the end of the time in which there were sources, for an interval that ends at t. */
static inline nsec_t flow_token_until(const struct flow_token *v, nsec_t t)
{
	return v->flags & FLOW_ENDED && v->newest < t ? v->newest : t;
}

/*
 * Sets k and n to the worse coverage of the two, which has the smaller k/n. Constants do not count.
 */
static inline void flow_coverage_worse(uint32_t *k, uint32_t *n, uint32_t bk, uint32_t bn)
{
	if (bn && (!*n || (uint64_t)bk * *n < (uint64_t)*k * bn)) {
		*k = bk;
		*n = bn;
	}
}

/* Writes flags such as "partial,late" to out; "" without flags. Returns out. */
#define FLOW_FLAGS_TEXT_BYTES 80
char *flow_flags_print(char *out, uint32_t flags);

#endif
