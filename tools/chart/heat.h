/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map of values: a row for each object, a column for each read. With more objects than rows, a
 * row shows the largest value of a group of objects. A cell without a value has a hatch.
 */
#ifndef TOOLS_CHART_HEAT_H
#define TOOLS_CHART_HEAT_H

#include "tools/chart/grid.h"

#include <stddef.h>

struct heat {
	const char *const *name; /* of each object */
	size_t objects, reads;
	const double *value; /* value[object * reads + read]; NaN: unknown */
	double from, to; /* of the scale; a value outside has the colour of the end */
	const char *unit;
};

/* Draws the newest reads that fit, and the scale below. -ERR_LIMIT: the area is too small. */
int heat_draw(struct grid *g, struct grid_area area, const struct heat *h, const struct paint *p);

#endif
