/* SPDX-License-Identifier: Apache-2.0 */
/* The distribution of values, in bins of equal width. */
#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include "stats/quantity.h"

#define HISTOGRAM_BINS_MAX 200
/* more do not fit on a screen; a long tail would have hundreds */
#define HISTOGRAM_BINS_USUAL 50

struct histogram {
	double from, to; /* the least and the greatest value */
	unsigned n;
	uint64_t count[HISTOGRAM_BINS_MAX]; /* a bin has its lower end; the last one both */
};

/*
 * bins 0: chosen by the width 2 (q3 - q1) / cbrt(n) (Freedman and Diaconis 1981), at most
 * HISTOGRAM_BINS_USUAL. No bins without values, one for equal ones. Exact if all values are stored;
 * else each value counts at the middle of its bucket in the sketch.
 */
void histogram_of(struct quantity *q, unsigned bins, struct histogram *out);

/* Returns the beginning of bin i, i <= n. */
double histogram_edge(const struct histogram *h, unsigned i);

#endif
