/* SPDX-License-Identifier: Apache-2.0 */
/* Curves over axes, as SVG: points with intervals. The name of a curve has its colour. */
#ifndef EVENTLOG_LIFELINE_SVGCHART_H
#define EVENTLOG_LIFELINE_SVGCHART_H

#include "eventlog/lifeline/svgaxis.h"

#include <stddef.h>

#define SVG_COLOURS 6 /* classes c0 to c5; further curves use them again */

struct svg_point {
	double x, y;
	double half; /* half the interval around y; NaN: unknown */
};

struct svg_curve {
	const char *name; /* may be "" for a single curve */
	const struct svg_point *point;
	size_t n;
};

struct svg_chart {
	double left, top, wide, high; /* the plot area, without labels */
	const char *x_words, *y_words;
	bool is_log_x, is_log_y;
	bool has_dots; /* dots at the points */
	const struct svg_curve *curve;
	size_t n;
	/* labels at x = 0, 1, 2, ...; NULL: the axis shows numbers */
	const char *const *place;
	size_t nplace;
};

/*
 * Returns the number of points that cannot be drawn: they are not finite, or <= 0 on a logarithmic
 * axis.
 */
size_t svg_chart(struct buf *out, const struct svg_chart *c);

/* Rules of the classes c0 to c5, for a <style>. */
extern const char svg_chart_style[];

#endif
