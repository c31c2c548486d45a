/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves and points over an axis. A gap in the values is a gap in the curve: a point with a value
 * that is not finite ends it. Each curve has its colour and, in ASCII, its letter.
 */
#ifndef TOOLS_CHART_LINES_H
#define TOOLS_CHART_LINES_H

#include "tools/chart/plot.h"

#include <stddef.h>

struct lines_point {
	double x, y;
};

struct lines_curve {
	const char *name; /* "": not in the legend */
	const struct lines_point *point; /* in the order of x */
	size_t n;
	bool is_points; /* not joined */
};

struct lines {
	const char *title, *x_name, *y_name;
	const struct lines_curve *curve;
	size_t n;
	bool is_log_x, is_log_y;
	bool has_zero; /* the y axis begins at 0 */
};

/*
 * -ERR_NOMEM; -ERR_LIMIT: the area is too small. Without points, a text in the frame reports that.
 */
int lines_draw(struct grid *g, struct grid_area area, const struct lines *l, const struct paint *p);

#endif
