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
	const char *name; /* may be "" for a single curve */
	const struct svg_point *point;
	size_t n;
};

struct svg_chart {
	double left, top, wide, high; /* of the plot without the words around it */
	const char *x_words, *y_words;
	bool is_log_x, is_log_y;
	bool has_dots; /* at the points */
	const struct svg_curve *curve;
	size_t n;
	/* labels at x = 0, 1, 2, ...; NULL: the axis has numbers */
	const char *const *place;
	size_t nplace;
};

/*
 * Returns the number of points that cannot be drawn: those that are not finite, and those <= 0 on a
 * logarithmic axis.
 */
size_t svg_chart(struct buf *out, const struct svg_chart *c);

/* Rules of the classes c0 to c5, for a <style>. */
extern const char svg_chart_style[];

#endif
