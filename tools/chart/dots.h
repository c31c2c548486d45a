/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dots within cells: 1 x 2 dots in ASCII, 2 x 2 as quarters of a block, 2 x 4 in braille. A cell
 * has one colour, that of its last dot.
 */
#ifndef TOOLS_CHART_DOTS_H
#define TOOLS_CHART_DOTS_H

#include "tools/chart/grid.h"

struct dots;

/* NULL: no memory, or an empty area. */
struct dots *dots_new(struct grid_area area, enum paint_glyphs glyphs);
void dots_free(struct dots *d);

/* The number of dots across, and from top to bottom. */
unsigned dots_across(const struct dots *d);
unsigned dots_down(const struct dots *d);

/*
 * Sets a dot, counted from the left and from the top. mark: with ASCII, the sign of a cell that
 * has only dots with this mark; 0: the sign shows the place of the dots.
 */
void dots_set(struct dots *d, unsigned x, unsigned y, uint32_t ink, char mark);
/* Sets the dots of a straight line. */
void dots_line(struct dots *d, const unsigned from[2], const unsigned to[2], uint32_t ink,
	       char mark);

/* Puts the cells that have dots into the grid. */
void dots_draw(const struct dots *d, struct grid *g);

#endif
