/* SPDX-License-Identifier: Apache-2.0 */
/* Curves over axes, as SVG: points with intervals, each curve in a colour that its name has. */
#ifndef EVENTLOG_LIFELINE_SVGCHART_H
#define EVENTLOG_LIFELINE_SVGCHART_H

#include "eventlog/lifeline/svgaxis.h"

#include <stddef.h>

#define SVG_COLOURS 6 /* classes c0 to c5; further curves begin again */

struct svg_point {
	double x, y;
	double half; /* of the interval around y; NaN: none is known */
};

struct svg_curve {
	const char *name; /* of a curve that is alone it may be "" */
	const struct svg_point *point;
	size_t n;
};

struct svg_chart {
	double left, top, wide, high; /* of the plot itself: words stand outside of it */
	const char *x_words, *y_words;
	bool is_log_x, is_log_y;
	bool has_dots; /* at the points */
	const struct svg_curve *curve;
	size_t n;
	/* words at x = 0, 1, 2, ... instead of numbers; NULL: numbers */
	const char *const *place;
	size_t nplace;
};

/*
 * Returns the points that have no place: those that are not finite and, on an axis by powers of
 * ten, those that are not above 0.
 */
size_t svg_chart(struct buf *out, const struct svg_chart *c);

/* Rules of the classes c0 to c5, for a <style>. */
extern const char svg_chart_style[];

#endif
