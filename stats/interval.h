/* SPDX-License-Identifier: Apache-2.0 */
/* Confidence intervals of a mean. */
#ifndef STATS_INTERVAL_H
#define STATS_INTERVAL_H

#include "stats/batches.h"

/* mean +- half. half is NaN if there are too few values, and never infinite. */
struct interval {
	double mean, half, level;
	double df; /* degrees of freedom; NaN if half is NaN */
};

/*
 * By Student's t: mean +- t sqrt(s^2 / n), n - 1 degrees of freedom. Assumes that the values are
 * independent, and that their mean is about normal: with many values, any distribution has this.
 */
struct interval interval_of_mean(const struct moments *m, double level);

/*
 * By batch means: the same for the means of batches. Assumes that batches are longer than the range
 * of the dependence (batches_are_independent()), not that values are independent.
 */
struct interval interval_of_batches(const struct batches *b, double level);

/* A reason why an interval for independent values is too narrow. Each test has a level of 1 %. */
enum dependence {
	DEPENDENCE_NONE,
	DEPENDENCE_NEIGHBOURS, /* serial correlation at lag 1 */
	DEPENDENCE_FAR, /* means of batches vary more than those of independent values would */
};
enum dependence dependence_of(const struct moments *m, const struct batches *b);

/*
 * Returns NONE or NEIGHBOURS: only the correlation r of n values with the previous ones is known.
 */
enum dependence dependence_of_neighbours(double r, uint64_t n);

/* Returns a text for users; NULL for DEPENDENCE_NONE. */
const char *dependence_words(enum dependence d);

#endif
