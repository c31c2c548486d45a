/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grid of cells for a terminal. Charts draw into it; its lines are printed with colours or
 * without. What lies outside of the grid is not drawn.
 */
#ifndef TOOLS_CHART_GRID_H
#define TOOLS_CHART_GRID_H

#include "common/base/buf.h"
#include "tools/chart/paint.h"

#include <stdbool.h>

#define GRID_CELLS_MAX (1u << 20) /* more than any terminal has; 16 MiB */

struct grid_cell {
	uint32_t sign; /* a code point of one column */
	uint32_t ink, paper; /* 0xRRGGBB or PAINT_NO_INK */
	bool is_bold;
};

/* A part of a grid, in cells. */
struct grid_area {
	unsigned row, col, rows, cols;
};

/* Columns of one row: from `col` on, or before it for text that ends there. */
struct grid_span {
	unsigned row, col, width;
};

struct grid;

/* All cells are blank. NULL: no memory, or rows x cols is 0 or above GRID_CELLS_MAX. */
struct grid *grid_new(unsigned rows, unsigned cols);
void grid_free(struct grid *g);
struct grid_area grid_all(const struct grid *g);

void grid_put(struct grid *g, unsigned row, unsigned col, struct grid_cell cell);
/* A blank for a cell outside. */
struct grid_cell grid_get(const struct grid *g, unsigned row, unsigned col);

/*
 * Writes at most the columns of the span. A character that is not printable in exactly one column
 * becomes a question mark. Returns the number of columns.
 */
unsigned grid_text(struct grid *g, struct grid_span at, const char *text, uint32_t ink);
/* As grid_text(), with the end of the text before the column. */
void grid_text_left_of(struct grid *g, struct grid_span at, const char *text, uint32_t ink);

/* Appends the lines, without blanks at their ends. -ERR_NOMEM, -ERR_LIMIT. */
int grid_print(const struct grid *g, enum paint_depth depth, struct buf *out);

#endif
