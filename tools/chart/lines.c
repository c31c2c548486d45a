/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/chart/lines.h"

#include "common/base/err.h"
#include "tools/chart/dots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define NONE_WORDS "no values"

struct range {
	double from, to;
};

static void extend(struct range *r, double v, bool is_log)
{
	if (!isfinite(v) || (is_log && !(v > 0)))
		return;
	r->from = fmin(r->from, v);
	r->to = fmax(r->to, v);
}

static bool is_point(const struct lines_point *p)
{
	return isfinite(p->x) && isfinite(p->y);
}

/* Returns whether there is a point at all. */
static bool find_ranges(const struct lines *l, struct range *x, struct range *y)
{
	*x = *y = (struct range){ INFINITY, -INFINITY };
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->curve[i].n; k++) {
			const struct lines_point *p = &l->curve[i].point[k];

			if (!is_point(p))
				continue;
			extend(x, p->x, l->is_log_x);
			extend(y, p->y, l->is_log_y);
		}
	if (l->has_zero && !l->is_log_y)
		extend(y, 0, false);
	return x->from <= x->to && y->from <= y->to;
}

struct pen {
	struct dots *dots;
	struct axis x, y; /* in dots */
	uint32_t ink;
	char mark;
};

static bool place(const struct pen *pen, const struct lines_point *p, unsigned at[2])
{
	if (!is_point(p) || (pen->x.is_log && !(p->x > 0)) || (pen->y.is_log && !(p->y > 0)))
		return false;
	at[0] = (unsigned)lround(axis_place(&pen->x, p->x));
	at[1] = (unsigned)lround(axis_place(&pen->y, p->y));
	return true;
}

static void draw_curve(const struct pen *pen, const struct lines_curve *c)
{
	unsigned last[2], at[2];
	bool has_last = false;

	for (size_t k = 0; k < c->n; k++) {
		bool is_here = place(pen, &c->point[k], at);

		if (is_here && has_last && !c->is_points)
			dots_line(pen->dots, last, at, pen->ink, pen->mark);
		else if (is_here)
			dots_set(pen->dots, at[0], at[1], pen->ink, pen->mark);
		has_last = is_here;
		memcpy(last, at, sizeof(last));
	}
}

static char letter(const struct lines *l, size_t i)
{
	return l->n > 1 ? LETTERS[i % (sizeof(LETTERS) - 1)] : '*';
}

/* Draws the names in the first row of the area, from the right. */
static void draw_legend(struct grid *g, struct grid_area area, const struct lines *l,
			const struct paint *p)
{
	unsigned col = area.col + (unsigned)strlen(l->title) + 2;

	for (size_t i = 0; i < l->n && col < area.col + area.cols; i++) {
		char words[128];

		if (!l->curve[i].name[0])
			continue;
		if (p->depth == PAINT_MONO || p->glyphs == PAINT_ASCII)
			snprintf(words, sizeof(words), "%c %s", letter(l, i), l->curve[i].name);
		else
			snprintf(words, sizeof(words), "\xe2\x96\xa0 %s", l->curve[i].name);
		col += grid_text(g, (struct grid_span){ area.row, col, area.col + area.cols - col },
				 words, paint_kind((unsigned)i)) +
		       2;
	}
}

int lines_draw(struct grid *g, struct grid_area area, const struct lines *l, const struct paint *p)
{
	/* Without colour only letters distinguish curves. */
	enum paint_glyphs glyphs = l->n > 1 && p->depth == PAINT_MONO ? PAINT_ASCII : p->glyphs;
	struct range x, y;
	bool has_points = find_ranges(l, &x, &y);
	struct plot_frame f = { l->title, l->x_name, l->y_name,	  x.from,     x.to,
				y.from,	  y.to,	     l->is_log_x, l->is_log_y };
	struct plot plot;
	struct pen pen;

	if (!plot_open(g, area, &f, p, &plot))
		return -ERR_LIMIT;
	draw_legend(g, area, l, p);
	if (!has_points) {
		grid_text(g,
			  (struct grid_span){ plot.inside.row, plot.inside.col + 1,
					      plot.inside.cols },
			  NONE_WORDS, PAINT_NO_INK);
		return 0;
	}
	pen.dots = dots_new(plot.inside, glyphs);
	if (!pen.dots)
		return -ERR_NOMEM;
	pen.x = axis_of(plot.x.from, plot.x.to, 0, dots_across(pen.dots) - 1, l->is_log_x);
	pen.y = axis_of(plot.y.from, plot.y.to, dots_down(pen.dots) - 1,
			-(double)(dots_down(pen.dots) - 1), l->is_log_y);
	for (size_t i = 0; i < l->n; i++) {
		pen.ink = paint_kind((unsigned)i);
		pen.mark = letter(l, i);
		draw_curve(&pen, &l->curve[i]);
	}
	dots_draw(pen.dots, g);
	dots_free(pen.dots);
	return 0;
}
