/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Covariance and correlation of pairs of values, in constant memory, merged in any order. Large
 * means cost no precision, as in moments.h.
 */
#ifndef STATS_PAIRS_H
#define STATS_PAIRS_H

#include "stats/sum.h"

#include <stdint.h>

/* The owner counts the pairs, whose values are finite. All zeros: no pairs. */
struct pairs {
	struct sum x, y; /* means */
	struct sum xx, yy, xy; /* sums of products of the distances to the means */
};

/* Adds the pair x, y to the sums of n_before pairs. */
void pairs_add(struct pairs *p, uint64_t n_before, double x, double y);

/* Merges the sums of n_from pairs into those of n pairs. */
void pairs_merge(struct pairs *p, uint64_t n, const struct pairs *from, uint64_t n_from);

/* Returns the covariance, divided by n - 1; NaN for fewer than two pairs. */
double pairs_covariance(const struct pairs *p, uint64_t n);

/*
 * Returns Pearson's correlation, in [-1, 1]. NaN for fewer than two pairs, or if one of the two is
 * constant. Also NaN if the squares of the distances exceed the range of numbers.
 */
double pairs_correlation(const struct pairs *p, uint64_t n);

#endif
