/* SPDX-License-Identifier: Apache-2.0 */
/* How values spread, in bins of equal width. */
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
 * bins 0: of the width 2 (q3 - q1) / cbrt(n) (Freedman and Diaconis 1981), HISTOGRAM_BINS_USUAL at
 * the most. No bins without values, one for equal ones. Exact when all values are kept; else each
 * value counts where the middle of its bucket of the sketch lies.
 */
void histogram_of(struct quantity *q, unsigned bins, struct histogram *out);

/* Where bin i begins, i <= n. */
double histogram_edge(const struct histogram *h, unsigned i);

#endif
