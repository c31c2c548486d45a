/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregates of a set of values, computed in any number of steps. The partial aggregates of two
 * sets can be merged to the aggregate of both, in any order and grouping. Results of COUNT, MIN,
 * MAX, UNIQUE, WHO_MAX, WHO_MIN, TOP and the sketch are exact. Others are correct up to rounding.
 * Infinite values are counted separately, and added to the result only. NaN always means "no
 * value".
 */
#ifndef COMMON_FLOW_GRAPH_AGG_H
#define COMMON_FLOW_GRAPH_AGG_H

#include "common/flow/graph/who.h"
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
	/* with the objects that have the values */
	AGG_WHO_MAX, /* the greatest value */
	AGG_WHO_MIN, /* the least value */
	AGG_TOP, /* the q greatest values */
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
	/* infinite values, which are not in n; kinds of objects treat them as any other value */
	uint32_t pinf, ninf;
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
		struct who who; /* for WHO_MAX and WHO_MIN, if n is not 0 */
		struct who_top *top; /* not owned */
	};
};

/* Memory of the kinds that need more than a few numbers. */
union agg_room {
	struct sketch sketch;
	struct who_top top;
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

/* True if the values of the kind come with their objects. */
static inline bool agg_kind_is_of_objects(enum agg_kind kind)
{
	return kind == AGG_WHO_MAX || kind == AGG_WHO_MIN || kind == AGG_TOP;
}

/* True if the kind needs an agg_room. */
static inline bool agg_kind_has_room(enum agg_kind kind)
{
	return agg_kind_has_sketch(kind) || kind == AGG_TOP;
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

/*
 * True if the aggregate has a parameter: the share of a QUANTILE, the level of a CI, the number of
 * values of a TOP.
 */
static inline bool agg_kind_has_share(enum agg_kind kind)
{
	return kind == AGG_QUANTILE || kind == AGG_CI || kind == AGG_TOP;
}

/* True if q is a valid parameter of the kind; kinds without a parameter ignore it. */
bool agg_share_is_fit(enum agg_kind kind, double q);

/*
 * room: owned by the caller. A sketch for kinds with agg_kind_has_sketch(), a who_top for TOP, or
 * an agg_room, which is large enough for both; otherwise NULL.
 */
void agg_init(struct agg *a, enum agg_kind kind, void *room);
/* Empties the aggregate. */
void agg_clear(struct agg *a);

/*
 * Adds a value with the bound of |v - true value|, >= 0. A NaN is not added. Not for kinds of
 * pairs.
 */
void agg_add(struct agg *a, double v, double error);

/* Adds a pair (x, y) to an aggregate of pairs, with their bounds. */
void agg_add_pair(struct agg *a, double x, double x_error, double y, double y_error);

/* Adds a value of an object to a kind of objects. A NaN is not added. */
void agg_add_who(struct agg *a, const struct who *w);

/*
 * Returns the values of a kind of objects in their order, and their number in *n: at most 1, or q
 * for TOP.
 */
const struct who *agg_whos(const struct agg *a, double q, uint32_t *n);

/* Merges b, which must be of the same kind. */
void agg_merge(struct agg *a, const struct agg *b);

/* Copies b; a keeps its own room. */
void agg_copy(struct agg *a, const struct agg *b);

/*
 * Returns the result and its error bound. The result is NaN if a kind needs a value and there is
 * none. A sum of inf and -inf is NaN. Without values SUM is 0, PROD 1, COUNT 0. For HISTOGRAM the
 * result is the number of values, for TOP the greatest value. q: for kinds with
 * agg_kind_has_share().
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
