/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of a chart with two axes: title, labels at the left and below, and the plot inside. */
#ifndef TOOLS_CHART_PLOT_H
#define TOOLS_CHART_PLOT_H

#include "common/axis/axis.h"
#include "tools/chart/grid.h"

struct plot_frame {
	const char *title; /* "": none */
	const char *x_name, *y_name; /* with units; "": none */
	double x_from, x_to, y_from, y_to;
	bool is_log_x, is_log_y;
};

/* Axes in cells of the grid; the plot is `inside`. */
struct plot {
	struct grid_area inside;
	struct axis x, y;
};

#define PLOT_LABEL_COLS 9 /* of the labels at the left, with the line of the axis */
#define PLOT_ROWS_MIN 4 /* title, a row of the plot, the axis' labels and names */
#define PLOT_COLS_MIN (PLOT_LABEL_COLS + 8)

/*
 * Draws the frame. Returns false if the area is smaller than PLOT_ROWS_MIN x PLOT_COLS_MIN; then
 * nothing is drawn.
 */
bool plot_open(struct grid *g, struct grid_area area, const struct plot_frame *f,
	       const struct paint *p, struct plot *out);

#endif
