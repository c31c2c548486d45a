/* SPDX-License-Identifier: Apache-2.0 */
/* The distribution of values, in bins of equal width. */
#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include "stats/quantity.h"

#define HISTOGRAM_BINS_MAX 200
/* more do not fit on a screen, and a long tail would need hundreds */
#define HISTOGRAM_BINS_USUAL 50

struct histogram {
	double from, to; /* the least and the greatest value */
	unsigned n;
	/* a bin includes its lower end; the last one includes both ends */
	uint64_t count[HISTOGRAM_BINS_MAX];
};

/*
 * bins 0 chooses their number by the width 2 (q3 - q1) / cbrt(n) (Freedman and Diaconis 1981), at
 * most HISTOGRAM_BINS_USUAL. Without values there is no bin, and for equal values there is one.
 * Counts are exact if all values are stored. Otherwise each value counts at the middle of its
 * bucket in the sketch.
 */
void histogram_of(struct quantity *q, unsigned bins, struct histogram *out);

/* Returns the lower edge of bin i; the upper edge of the last bin for i = n. */
double histogram_edge(const struct histogram *h, unsigned i);

#endif
