/* SPDX-License-Identifier: Apache-2.0 */
/* Welch's test whether two means differ significantly; their variances may differ. */
#ifndef STATS_WELCH_H
#define STATS_WELCH_H

#include <stdbool.h>

/* error: standard error of the mean, 0 or more; df > 0: its degrees of freedom. */
struct welch_mean {
	double mean, error, df;
};

/* value +- half. p: probability of such a difference if the means are equal. */
struct welch_difference {
	double value, half, p;
	bool is_sure; /* the interval does not contain 0 */
};

/*
 * Compares b's mean with a's. bias: bound of other causes of a difference, added to the half-width.
 * level: of the interval, as for student_two_sided(). Welch, Biometrika 34 (1947).
 */
struct welch_difference welch_compare(const struct welch_mean *a, const struct welch_mean *b,
				      double bias, double level);

/* The same for pairs: mean and error are those of the differences. */
struct welch_difference welch_paired(const struct welch_mean *difference, double level);

#endif
