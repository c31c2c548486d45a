/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How two values go together, of pairs that come one by one: covariance and
 * correlation in constant memory, merged in any order. What moments.h says of
 * large means is true here, too.
 */
#ifndef STATS_PAIRS_H
#define STATS_PAIRS_H

#include "stats/sum.h"

#include <stdint.h>

/* The owner counts the pairs, of finite values. Zeros: of none. */
struct pairs {
	struct sum x, y; /* means */
	struct sum xx, yy, xy; /* sums of products of the distances to them */
};

/* x with y after n_before others. */
void pairs_add(struct pairs *p, uint64_t n_before, double x, double y);

/* Merges the sums of n_from pairs into those of n pairs. */
void pairs_merge(struct pairs *p, uint64_t n, const struct pairs *from, uint64_t n_from);

/* With n - 1; NaN for fewer than two pairs. */
double pairs_covariance(const struct pairs *p, uint64_t n);

/*
 * Pearson's: in [-1, 1]. NaN for fewer than two pairs, or where one of the two never changes. NaN
 * too where the squares of the distances exceed the range of numbers.
 */
double pairs_correlation(const struct pairs *p, uint64_t n);

#endif
