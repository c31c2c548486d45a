/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Means of successive batches, in constant memory: for values that depend on the ones before.
 * While values come the batches grow: when there are BATCHES_MAX, each two neighbours become one
 * (dynamic non-overlapping batch means, Yeh and Schmeiser, WSC 2000). Means
 * of batches that are long compared with the reach of the dependence are almost independent. An
 * interval from them assumes that; batches_are_independent() tests it.
 */
#ifndef STATS_BATCHES_H
#define STATS_BATCHES_H

#include "stats/moments.h"

/* even; between 32 and 64 of them: Schmeiser 1982 finds little use in more */
#define BATCHES_MAX 64

/* Zeros: of no value. Fields are for batches.c. */
struct batches {
	double origin; /* the first value; means and the sum are distances to it */
	double mean[BATCHES_MAX];
	unsigned n;
	uint64_t size; /* values in each */
	struct sum open; /* of the batch that is not full yet */
	uint64_t nopen;
};

void batches_add(struct batches *b, double v); /* finite */

/*
 * The batches of both, from's after b's, as long as the longer ones. What is in a batch that is not
 * full, or finds no partner, is left out.
 */
void batches_merge(struct batches *b, const struct batches *from);

/* The means of all full batches as values. */
void batches_moments(const struct batches *b, struct moments *out);

/*
 * The means are not correlated at lag 1 beyond what chance makes in one case of a hundred. False
 * for fewer than half of BATCHES_MAX.
 */
bool batches_are_independent(const struct batches *b);

/* An interval is too narrow by a third where batches are as long as the dependence reaches. At ten
 * times that length it is too narrow by 5 %. */
#define BATCHES_LENGTH_MIN 10

/*
 * Batches are BATCHES_LENGTH_MIN times as long as batches_inflation(): this many values have the
 * information of one independent value. Batches that are too short to show the whole dependence
 * have one of about their own length.
 */
bool batches_are_long(const struct batches *b, const struct moments *values);

/*
 * The variance of the mean, as the batches have it, over what it would be if values were
 * independent. NaN while there are fewer than half of BATCHES_MAX. An interval for independent
 * values is too narrow by the root of it.
 */
double batches_inflation(const struct batches *b, const struct moments *values);

#endif
