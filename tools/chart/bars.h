/* SPDX-License-Identifier: Apache-2.0 */
/* Bars to the right, one a line, and columns of frequencies. */
#ifndef TOOLS_CHART_BARS_H
#define TOOLS_CHART_BARS_H

#include "tools/chart/plot.h"

#include <stddef.h>

struct bar {
	const char *name;
	double value; /* NaN: unknown, drawn as a hatch */
	const char *words; /* the value in words, behind the bar */
};

/*
 * Draws bars from 0, in the given order; the longest fills the area. With more bars than rows, the
 * last row has the number of bars that are left out.
 */
void bars_draw(struct grid *g, struct grid_area area, const struct bar *bar, size_t n,
	       const struct paint *p);

struct bars_bin {
	double from, to, count;
};

struct bars_histogram {
	struct plot_frame names; /* the ranges are those of the bins */
	const struct bars_bin *bin; /* in ascending order */
	size_t n;
};

/*
 * Draws frequencies. A column of the plot shows the largest bin in it. -ERR_LIMIT: the area is too
 * small.
 */
int bars_histogram_draw(struct grid *g, struct grid_area area, const struct bars_histogram *h,
			const struct paint *p);

struct bars_spark {
	const double *value; /* NaN: unknown, a hatch */
	size_t n;
	double most; /* the value of a full column */
	uint32_t ink;
};

/* Draws the newest values as a line of columns; the last one is at the right. */
void bars_spark_draw(struct grid *g, struct grid_span at, const struct bars_spark *s,
		     const struct paint *p);

#endif
