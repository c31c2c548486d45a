/* SPDX-License-Identifier: Apache-2.0 */
/* A window of a history as a picture, and in words. */
#ifndef TOOLS_MEASURE_CHARTS_PICTURE_H
#define TOOLS_MEASURE_CHARTS_PICTURE_H

#include "tools/chart/bars.h"
#include "tools/measure/charts.h"

struct charts_view {
	const struct history *history;
	size_t end; /* reads up to this one, exclusively */
	enum charts_kind kind; /* not CHARTS_AUTO */
	const char *metric, *unit;
	const struct bars_bin *bin; /* of a metric that returns histograms; NULL otherwise */
	size_t nbin;
	struct paint paint;
};

/*
 * Writes one line: the highest object with its bound, the median, and how many are unknown. Nothing
 * without a read or without memory.
 */
void charts_words(const struct charts_view *v, struct buf *out);

/* Draws the window. -ERR_NOMEM; -ERR_LIMIT: the area is too small. */
int charts_picture(const struct charts_view *v, struct grid *g, struct grid_area area);

#endif
