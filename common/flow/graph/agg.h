/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregates of a set of values, computed in any number of steps. The partial aggregates of two
 * sets can be merged to the aggregate of both, in any order and grouping. The result is exact for
 * COUNT, MIN, MAX, UNIQUE and the sketch, and correct up to rounding for the others. Infinite
 * values are counted separately, and added to the result only. NaN always means "no value".
 */
#ifndef COMMON_FLOW_GRAPH_AGG_H
#define COMMON_FLOW_GRAPH_AGG_H

#include "stats/moments.h"
#include "stats/pairs.h"
#include "stats/sketch.h"

#include <stdbool.h>
#include <stdint.h>

enum agg_kind {
	AGG_COUNT,
	AGG_SUM,
	AGG_MIN,
	AGG_MAX,
	AGG_PROD,
	AGG_MEAN,
	AGG_STDEV, /* of the population: the root of M2 / n */
	AGG_UNIQUE, /* the smallest value; its bound is the distance to the others */
	AGG_QUANTILE,
	AGG_HISTOGRAM,
	/* VARIANCE and the following ones: sample estimates with n - 1, see stats/moments.h */
	AGG_VARIANCE,
	AGG_SKEWNESS,
	AGG_KURTOSIS,
	/* half the width of the mean's confidence interval by Student's t, at the level q */
	AGG_CI,
	AGG_COVARIANCE, /* of two values, see stats/pairs.h */
	AGG_CORRELATION,
	AGG_NKINDS
};

/*
 * A product as mant * 2^exp with mant 0 or 0.5 <= |mant| < 1, so that intermediate results cannot
 * overflow.
 */
struct agg_product {
	double mant;
	int64_t exp;
};

#define AGG_SUMS_MAX 5 /* largest number of sums of an aggregate: that of pairs */

/* Only agg.c, and the readers and writers of messages, use the members. */
struct agg {
	enum agg_kind kind;
	uint32_t pinf, ninf; /* infinite values, which are not in n */
	uint64_t n; /* number of finite values */
	/*
	 * error of the values: their sum for SUM and MEAN, else the greatest; for pairs that of
	 * the first value
	 */
	double error;
	union {
		struct sum sum;
		struct powers powers; /* for kinds with agg_kind_powers() */
		struct {
			struct pairs of;
			double error; /* error of the second values */
		} pairs; /* of the kinds that are agg_kind_is_of_pairs() */
		struct {
			double min, max;
		} range; /* for MIN, MAX, UNIQUE */
		struct {
			/* product of the values, and that of |value| + error */
			struct agg_product value, most;
		} product;
		struct sketch *sketch; /* not owned */
	};
};

/* Returns a name such as "MEAN"; NULL for an invalid number. */
const char *agg_kind_name(enum agg_kind kind);
/* Finds the kind of that name in upper case. Returns false if there is none. */
bool agg_kind_find(const char *name, enum agg_kind *out);

/* True if the aggregate needs a sketch, which has some kilobytes instead of a few numbers. */
static inline bool agg_kind_has_sketch(enum agg_kind kind)
{
	return kind == AGG_QUANTILE || kind == AGG_HISTOGRAM;
}

/*
 * Returns how many of mean, M2, M3, M4 the kind needs. Only these are sent, and only these are
 * valid in a received aggregate.
 */
unsigned agg_kind_powers(enum agg_kind kind);

/*
 * Returns the number of sums: SUM and MEAN have one, kinds with powers the number of their powers,
 * pairs five.
 */
unsigned agg_kind_sums(enum agg_kind kind);

/* True if the inputs are pairs of values. */
static inline bool agg_kind_is_of_pairs(enum agg_kind kind)
{
	return kind == AGG_COVARIANCE || kind == AGG_CORRELATION;
}

/* True if the aggregate has a parameter: the share of a QUANTILE, the level of a CI. */
static inline bool agg_kind_has_share(enum agg_kind kind)
{
	return kind == AGG_QUANTILE || kind == AGG_CI;
}

/* True if q is a valid parameter of the kind; kinds without a parameter ignore it. */
bool agg_share_is_fit(enum agg_kind kind, double q);

/* sketch: for kinds that have one, owned by the caller; otherwise NULL. */
void agg_init(struct agg *a, enum agg_kind kind, struct sketch *sketch);
/* Empties the aggregate. */
void agg_clear(struct agg *a);

/*
 * Adds a value with the bound of |v - true value|, >= 0. A NaN is not added. Not for kinds of
 * pairs.
 */
void agg_add(struct agg *a, double v, double error);

/* Adds a pair (x, y) to an aggregate of pairs, with their bounds. */
void agg_add_pair(struct agg *a, double x, double x_error, double y, double y_error);

/* Merges b, which must be of the same kind. */
void agg_merge(struct agg *a, const struct agg *b);

/* Copies b; a keeps its own sketch. */
void agg_copy(struct agg *a, const struct agg *b);

/*
 * Returns the result and its error bound. The result is NaN if a kind needs a value and there is
 * none. A sum of inf and -inf is NaN. Without values SUM is 0, PROD 1, COUNT 0. For HISTOGRAM the
 * result is the number of values. q: for kinds with agg_kind_has_share().
 */
double agg_value(const struct agg *a, double q, double *error);

/* Returns the moments of a kind with powers, without results that need a sequence of values. */
struct moments agg_moments(const struct agg *a);

/*
 * agg_as() returns the result of another kind: MEAN, or a kind with powers. agg_gives() is true if
 * the powers of `of` suffice for that, and for an interval of the mean. The result is the same as
 * that of an aggregate of the other kind. The bound is the same, too, except for MEAN, where it is
 * the largest one.
 */
bool agg_gives(enum agg_kind of, enum agg_kind as);
double agg_value_as(const struct agg *a, enum agg_kind as, double q, double *error);

/* Returns the number of values. */
uint64_t agg_count(const struct agg *a);

/* True if an aggregate of a peer may be merged, because real values could have produced it. */
bool agg_is_sane(const struct agg *a);

#endif
