/* SPDX-License-Identifier: Apache-2.0 */
/* Do two means differ by more than chance? Welch's test: their variances need not be the same. */
#ifndef STATS_WELCH_H
#define STATS_WELCH_H

#include <stdbool.h>

/* error: standard error of the mean, 0 or more; df > 0: its degrees of freedom. */
struct welch_mean {
	double mean, error, df;
};

/* value +- half. p: how likely chance makes such a difference of equal means. */
struct welch_difference {
	double value, half, p;
	bool is_sure; /* the interval does not contain 0 */
};

/*
 * b's mean less a's. bias: what else may have made them differ, at most, which comes on top of
 * chance. level: of the interval, as student_two_sided() takes it. Welch, Biometrika 34 (1947).
 */
struct welch_difference welch_compare(const struct welch_mean *a, const struct welch_mean *b,
				      double bias, double level);

/* As above, for pairs: mean and error are those of the differences. */
struct welch_difference welch_paired(const struct welch_mean *difference, double level);

#endif
