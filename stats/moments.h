/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of values in constant memory: how many, mean, second to fourth
 * central moments, least, greatest, and how far each lies from the one before.
 * No sum of squares: 10^9 values around 10^9 +- 10^-3 keep 12 digits of their
 * variance (docs/stats.md has the formulas and where they are from).
 *
 * Statistics that are not defined (too few values, no spread) are NaN.
 */
#ifndef STATS_MOMENTS_H
#define STATS_MOMENTS_H

#include "stats/sum.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What merges in any order, so that values may come from many processes. The owner counts the
 * values; all are finite. Zeros: of none.
 */
struct powers {
	struct sum mean, m2, m3, m4; /* m2..m4: sums of powers of the distance to the mean */
};

/* v after n_before others. */
void powers_add(struct powers *p, uint64_t n_before, double v);

/*
 * Those of n values become those of n + n_from. Lower ones do not depend on higher ones: m3 and m4
 * may be left out where only the variance is needed.
 */
void powers_merge(struct powers *p, uint64_t n, const struct powers *from, uint64_t n_from);

/* The same of values that come one after the other. Zeros: of no value. Fields are for
 * moments.c. */
struct moments {
	uint64_t n;
	struct powers powers;
	struct sum steps; /* of squared differences of successive values */
	double min, max, first, last;
};

/* False, and v is not added: it is not finite. */
bool moments_add(struct moments *m, double v);

/*
 * Of n values of which no more is known: mean, variance and sum are theirs, and others may be
 * added. Skewness, kurtosis and serial correlation mean nothing.
 */
struct moments moments_known(uint64_t n, double mean, double squares, double min, double max);

/*
 * As if from's values had been added after m's: exact but for rounding. In the serial
 * correlation the two are one sequence: for many short ones that is a pair too much for each.
 */
void moments_merge(struct moments *m, const struct moments *from);

double moments_mean(const struct moments *m); /* NaN without a value */
/* sum of squared distances to the mean; 0 without values */
double moments_squares(const struct moments *m);
double moments_variance(const struct moments *m); /* with n - 1: needs two values */
double moments_deviation(const struct moments *m); /* the root of that */
double moments_skewness(const struct moments *m); /* m3 / s^3, s with n - 1 */
double moments_kurtosis(
	const struct moments *m); /* m4 / s^4 - 3, s with n - 1: 0 for normal ones */

/* Autocorrelation at lag 1, as NIST has it: in [-1, 1]. NaN for fewer than two values or equal
 * ones. */
double moments_serial(const struct moments *m);

/*
 * True when r is beyond chance: independent values exceed it in one case of a hundred. r is the
 * correlation of n values with the ones before. Never for NaN.
 */
bool serial_is_beyond_chance(double r, uint64_t n);

#endif
