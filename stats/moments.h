/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of values in constant memory: number, mean, second to fourth central moments,
 * smallest, largest, and serial correlation. There is no sum of squares: 10^9 values of 10^9 +-
 * 10^-3 keep 12 digits of variance (formulas: docs/stats.md). Undefined statistics (too few values,
 * no spread) are NaN.
 */
#ifndef STATS_MOMENTS_H
#define STATS_MOMENTS_H

#include "stats/sum.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The sums that merge in any order, so that values may come from many processes. The owner counts
 * the values, which are all finite. All zeros: no values.
 */
struct powers {
	struct sum mean, m2, m3, m4; /* m2..m4: sums of powers of the distance to the mean */
};

/* Adds v to the sums of n_before values. */
void powers_add(struct powers *p, uint64_t n_before, double v);

/*
 * Merges the sums of n_from values into those of n. Lower moments do not depend on higher ones, so
 * callers that need only the variance may ignore m3 and m4.
 */
void powers_merge(struct powers *p, uint64_t n, const struct powers *from, uint64_t n_from);

/* The sums of a sequence of values. All zeros: no values. Only moments.c uses the members. */
struct moments {
	uint64_t n;
	struct powers powers;
	struct sum steps; /* sum of squared differences of successive values */
	double min, max, first, last;
};

/* Returns false, without adding v, if it is not finite. */
bool moments_add(struct moments *m, double v);

/*
 * Makes the moments of n values from known results. Mean, variance and sum are valid, and further
 * values may be added. Skewness, kurtosis and serial correlation are meaningless.
 */
struct moments moments_known(uint64_t n, double mean, double squares, double min, double max);

/*
 * Merges as if from's values had been added after m's: exact except for rounding. The serial
 * correlation takes both as one sequence, so that each merge adds one pair.
 */
void moments_merge(struct moments *m, const struct moments *from);

double moments_mean(const struct moments *m); /* NaN without a value */
/* Returns the sum of squared distances to the mean; 0 without values */
double moments_squares(const struct moments *m);
double moments_variance(const struct moments *m); /* with n - 1: needs two values */
double moments_deviation(const struct moments *m); /* square root of the variance */
double moments_skewness(const struct moments *m); /* m3 / s^3, s with n - 1 */
double moments_kurtosis(
	const struct moments *m); /* m4 / s^4 - 3, s with n - 1: 0 for normal values */

/*
 * Returns the autocorrelation at lag 1, as NIST defines it: in [-1, 1]. NaN for fewer than two
 * values, or if all are equal.
 */
double moments_serial(const struct moments *m);

/*
 * True if r is significant: independent values exceed it in one case of a hundred. r is the
 * correlation of n values with the previous ones. False for NaN.
 */
bool serial_is_beyond_chance(double r, uint64_t n);

#endif
