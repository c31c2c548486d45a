/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/chart/plot.h"

#include <math.h>
#include <string.h>

#define LINE_SIGN(p) ((p)->glyphs == PAINT_ASCII ? (uint32_t)'|' : 0x2502u)
#define FLOOR_SIGN(p) ((p)->glyphs == PAINT_ASCII ? (uint32_t)'-' : 0x2500u)
#define CORNER_SIGN(p) ((p)->glyphs == PAINT_ASCII ? (uint32_t)'+' : 0x2514u)

static void put(struct grid *g, unsigned row, unsigned col, uint32_t sign)
{
	grid_put(g, row, col, (struct grid_cell){ sign, PAINT_NO_INK, PAINT_NO_INK, false });
}

static void draw_lines(struct grid *g, const struct grid_area *in, const struct paint *p)
{
	for (unsigned i = 0; i < in->rows; i++)
		put(g, in->row + i, in->col - 1, LINE_SIGN(p));
	put(g, in->row + in->rows, in->col - 1, CORNER_SIGN(p));
	for (unsigned i = 0; i < in->cols; i++)
		put(g, in->row + in->rows, in->col + i, FLOOR_SIGN(p));
}

/* Labels that would touch the one below are left out. */
static void label_y(struct grid *g, const struct plot *o)
{
	unsigned last = UINT32_MAX;
	char words[AXIS_WORDS_BYTES];
	double at;

	for (int i = 0; axis_tick(&o->y, i, &at, words); i++) {
		unsigned row = (unsigned)fmin(at, o->inside.row + o->inside.rows - 1);

		if (row == last || row + 1 == last)
			continue;
		grid_text_left_of(g,
				  (struct grid_span){ row, o->inside.col - 1, PLOT_LABEL_COLS - 1 },
				  words, PAINT_NO_INK);
		last = row;
	}
}

static void label_x(struct grid *g, const struct plot *o)
{
	unsigned row = o->inside.row + o->inside.rows + 1, free_from = 0;
	char words[AXIS_WORDS_BYTES];
	double at;

	for (int i = 0; axis_tick(&o->x, i, &at, words); i++) {
		unsigned n = (unsigned)strlen(words), half = n / 2;
		unsigned col = (unsigned)at > half ? (unsigned)at - half : 0;

		if (col < free_from || col + n > o->inside.col + o->inside.cols)
			continue;
		grid_text(g, (struct grid_span){ row, col, n }, words, PAINT_NO_INK);
		free_from = col + n + 1;
	}
}

bool plot_open(struct grid *g, struct grid_area area, const struct plot_frame *f,
	       const struct paint *p, struct plot *out)
{
	unsigned head = f->title[0] || f->y_name[0] ? 1 : 0, foot = f->x_name[0] ? 3 : 2;
	struct grid_area in;

	if (area.rows < PLOT_ROWS_MIN || area.rows < head + foot + 1 || area.cols < PLOT_COLS_MIN)
		return false;
	in = (struct grid_area){ area.row + head, area.col + PLOT_LABEL_COLS,
				 area.rows - head - foot, area.cols - PLOT_LABEL_COLS };
	out->inside = in;
	out->x = axis_of(f->x_from, f->x_to, in.col, in.cols - 1, f->is_log_x);
	out->y = axis_of(f->y_from, f->y_to, in.row + in.rows - 0.001, -(in.rows - 0.002),
			 f->is_log_y);
	grid_text(g, (struct grid_span){ area.row, area.col, area.cols },
		  f->title[0] ? f->title : f->y_name, PAINT_NO_INK);
	if (foot == 3)
		grid_text_left_of(g,
				  (struct grid_span){ area.row + area.rows - 1,
						      area.col + area.cols, area.cols },
				  f->x_name, PAINT_NO_INK);
	draw_lines(g, &in, p);
	label_y(g, out);
	label_x(g, out);
	return true;
}
