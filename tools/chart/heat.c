/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/chart/heat.h"

#include "common/base/err.h"
#include "common/base/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS_MIN 2 /* a row of cells and the scale */
#define COLS_MIN 24
#define NAME_SHARE 4 /* a name has at most a quarter of the columns */
#define KEY_CELLS 10 /* of the scale */

static double share_of(const struct heat *h, double v)
{
	return h->to > h->from ? (v - h->from) / (h->to - h->from) : 0;
}

static struct grid_cell cell_of(const struct heat *h, double v, const struct paint *p)
{
	double share;

	if (isnan(v))
		return (struct grid_cell){ paint_none(p->glyphs), PAINT_NO_INK, PAINT_NO_INK,
					   false };
	share = share_of(h, v);
	if (p->depth == PAINT_MONO)
		return (struct grid_cell){ paint_shade(p->glyphs, share), PAINT_NO_INK,
					   PAINT_NO_INK, false };
	return (struct grid_cell){ ' ', PAINT_NO_INK, paint_scale(share), false };
}

/* Returns the largest value of the objects from..to in a read; NaN if none has one. */
static double worst(const struct heat *h, size_t from, size_t to, size_t read)
{
	double v = NAN;

	for (size_t i = from; i < to; i++)
		v = fmax(v, h->value[i * h->reads + read]);
	return v;
}

static unsigned name_columns(const struct heat *h, struct grid_area area)
{
	size_t n = 0;

	for (size_t i = 0; i < h->objects; i++)
		n = str_characters(h->name[i]) > n ? str_characters(h->name[i]) : n;
	return n < area.cols / NAME_SHARE ? (unsigned)n : area.cols / NAME_SHARE;
}

/* The name of a group is that of its first object and the number of the others. */
static void draw_name(struct grid *g, struct grid_span at, const char *const *name, size_t n)
{
	char words[128];

	if (n > 1)
		snprintf(words, sizeof(words), "%s +%zu", name[0], n - 1);
	else
		snprintf(words, sizeof(words), "%s", name[0]);
	grid_text_left_of(g, at, words, PAINT_NO_INK);
}

static void draw_key(struct grid *g, struct grid_span at, const struct heat *h,
		     const struct paint *p)
{
	unsigned end = at.col + at.width, col = at.col;
	char words[96];

	snprintf(words, sizeof(words), "%.3g ", h->from);
	col += grid_text(g, at, words, PAINT_NO_INK);
	for (unsigned i = 0; i < KEY_CELLS && col < end; i++, col++)
		grid_put(g, at.row, col,
			 cell_of(h, h->from + (h->to - h->from) * i / (KEY_CELLS - 1), p));
	snprintf(words, sizeof(words), " %.3g %s", h->to, h->unit);
	col += grid_text(g, (struct grid_span){ at.row, col, end - col }, words, PAINT_NO_INK);
	if (col + 3 < end) {
		grid_put(g, at.row, col + 2, cell_of(h, NAN, p));
		grid_text(g, (struct grid_span){ at.row, col + 3, end - col - 3 }, " unknown",
			  PAINT_NO_INK);
	}
}

int heat_draw(struct grid *g, struct grid_area area, const struct heat *h, const struct paint *p)
{
	unsigned rows = area.rows - 1, name = name_columns(h, area), col = area.col + name + 1;
	unsigned cols = area.cols - name - 1;
	size_t shown = h->reads < cols ? h->reads : cols;

	if (area.rows < ROWS_MIN || area.cols < COLS_MIN)
		return -ERR_LIMIT;
	rows = h->objects < rows ? (unsigned)h->objects : rows;
	for (unsigned row = 0; row < rows; row++) {
		size_t from = row * h->objects / rows, to = (row + 1) * h->objects / rows;

		draw_name(g, (struct grid_span){ area.row + row, area.col + name, name },
			  &h->name[from], to - from);
		for (size_t i = 0; i < shown; i++)
			grid_put(g, area.row + row, col + (unsigned)i,
				 cell_of(h, worst(h, from, to, h->reads - shown + i), p));
	}
	draw_key(g, (struct grid_span){ area.row + rows, col, cols }, h, p);
	return 0;
}
