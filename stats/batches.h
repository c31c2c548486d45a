/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Means of successive batches, in constant memory, for values that depend on earlier ones. The
 * batches grow with the number of values. When there are BATCHES_MAX, each two neighbours are
 * merged (dynamic non-overlapping batch means, Yeh and Schmeiser, WSC 2000). Means of batches that
 * are long compared with the range of the dependence are almost independent. An interval from them
 * assumes that; batches_are_independent() tests it.
 */
#ifndef STATS_BATCHES_H
#define STATS_BATCHES_H

#include "stats/moments.h"

/* even; between 32 and 64: more batches have little use (Schmeiser 1982) */
#define BATCHES_MAX 64

/* All zeros: no values. Only batches.c uses the members. */
struct batches {
	double origin; /* the first value; means and the sum are stored as distances to it */
	double mean[BATCHES_MAX];
	unsigned n;
	uint64_t size; /* values in each batch */
	struct sum open; /* sum of the incomplete batch */
	uint64_t nopen;
};

void batches_add(struct batches *b, double v); /* v is finite */

/*
 * Appends the batches of from to those of b, with the longer length of both. Values in an
 * incomplete batch, or in one without a partner, are left out.
 */
void batches_merge(struct batches *b, const struct batches *from);

/* Returns the moments of the means of all full batches. */
void batches_moments(const struct batches *b, struct moments *out);

/*
 * True if a test at the 1 % level finds no correlation of the means at lag 1. False for fewer than
 * half of BATCHES_MAX.
 */
bool batches_are_independent(const struct batches *b);

/*
 * Intervals are too narrow by a third if batches are as long as the range of the dependence. They
 * are too narrow by 5 % if batches are ten times as long.
 */
#define BATCHES_LENGTH_MIN 10

/*
 * True if batches are BATCHES_LENGTH_MIN times as long as batches_inflation(): the number of values
 * with the information of one independent value. If batches are too short to show the whole
 * dependence, the inflation is about their own length.
 */
bool batches_are_long(const struct batches *b, const struct moments *values);

/*
 * Returns the variance of the mean, by batches, divided by that of independent values. NaN for
 * fewer than half of BATCHES_MAX. An interval for independent values is too narrow by its root.
 */
double batches_inflation(const struct batches *b, const struct moments *values);

#endif
