/* SPDX-License-Identifier: Apache-2.0 */
/* Welch's test whether two means differ significantly; their variances may differ. */
#ifndef STATS_WELCH_H
#define STATS_WELCH_H

#include <stdbool.h>

/* error: standard error of the mean, >= 0; df: its degrees of freedom, > 0. */
struct welch_mean {
	double mean, error, df;
};

/* value +- half. p: probability of such a difference if the true means are equal. */
struct welch_difference {
	double value, half, p;
	bool is_sure; /* the interval does not contain 0 */
};

/*
 * Compares b's mean with a's. bias: bound of the difference by other causes, added to the
 * half-width. level: as in student_two_sided(). Welch, Biometrika 34 (1947).
 */
struct welch_difference welch_compare(const struct welch_mean *a, const struct welch_mean *b,
				      double bias, double level);

/* Tests paired values: mean and error are those of the differences. */
struct welch_difference welch_paired(const struct welch_mean *difference, double level);

#endif
