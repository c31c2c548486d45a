/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/chart/bars.h"

#include "common/base/err.h"
#include "common/base/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EIGHTHS 8
#define NAME_SHARE 3 /* a name has at most a third of the columns */

static void put(struct grid *g, unsigned row, unsigned col, uint32_t sign, uint32_t ink)
{
	grid_put(g, row, col, (struct grid_cell){ sign, ink, PAINT_NO_INK, false });
}

/* A share above 0 has one eighth at least. */
static unsigned eighths_of(double share, unsigned cells)
{
	unsigned n = (unsigned)lround(share * cells * EIGHTHS);

	return share > 0 && !n ? 1 : n;
}

/* --- bars to the right */

struct layout {
	unsigned name, bar; /* columns */
	double most;
};

static struct layout lay_out(struct grid_area area, const struct bar *bar, size_t n)
{
	struct layout l = { 0, 0, 0 };
	size_t words = 0;

	for (size_t i = 0; i < n; i++) {
		size_t wide = str_characters(bar[i].name), said = str_characters(bar[i].words);

		l.name = wide > l.name ? (unsigned)wide : l.name;
		words = said > words ? said : words;
		if (isfinite(bar[i].value))
			l.most = fmax(l.most, bar[i].value);
	}
	if (l.name > area.cols / NAME_SHARE)
		l.name = area.cols / NAME_SHARE;
	if (words > area.cols / NAME_SHARE)
		words = area.cols / NAME_SHARE;
	if (area.cols > l.name + words + 2)
		l.bar = area.cols - l.name - (unsigned)words - 2;
	return l;
}

/* Returns the place of a value in the layout; NaN if it is not finite. */
static double share_in(const struct layout *l, double value)
{
	if (!isfinite(value))
		return NAN;
	return l->most > 0 ? fmax(value, 0) / l->most : 0;
}

/* Returns the columns of the bar. */
static unsigned draw_bar(struct grid *g, struct grid_span at, double share, const struct paint *p)
{
	unsigned eighths, n;

	if (!isfinite(share)) {
		for (n = 0; n < 3 && n < at.width; n++)
			put(g, at.row, at.col + n, paint_none(p->glyphs), PAINT_NO_INK);
		return n;
	}
	eighths = eighths_of(share, at.width);
	for (n = 0; n * EIGHTHS < eighths && n < at.width; n++)
		put(g, at.row, at.col + n, paint_from_left(p->glyphs, eighths - n * EIGHTHS),
		    paint_kind(1));
	return n;
}

void bars_draw(struct grid *g, struct grid_area area, const struct bar *bar, size_t n,
	       const struct paint *p)
{
	struct layout l = lay_out(area, bar, n);
	size_t shown = n <= area.rows ? n : area.rows ? area.rows - 1 : 0;

	for (size_t i = 0; i < shown; i++) {
		unsigned row = area.row + (unsigned)i, col = area.col + l.name + 1, used;

		grid_text_left_of(g, (struct grid_span){ row, area.col + l.name, l.name },
				  bar[i].name, PAINT_NO_INK);
		used = draw_bar(g, (struct grid_span){ row, col, l.bar },
				share_in(&l, bar[i].value), p);
		grid_text(g,
			  (struct grid_span){ row, col + used + 1,
					      area.cols - l.name - 1 - used - 1 },
			  bar[i].words, PAINT_NO_INK);
	}
	if (shown < n && area.rows) {
		char words[48];

		snprintf(words, sizeof(words), "%zu more", n - shown);
		grid_text(g, (struct grid_span){ area.row + area.rows - 1, area.col, area.cols },
			  words, PAINT_NO_INK);
	}
}

/* --- columns */

static void draw_column(struct grid *g, const struct grid_area *in, unsigned col, double share,
			const struct paint *p)
{
	unsigned eighths = eighths_of(share, in->rows);

	for (unsigned i = 0; i < in->rows && i * EIGHTHS < eighths; i++)
		put(g, in->row + in->rows - 1 - i, col,
		    paint_from_below(p->glyphs, eighths - i * EIGHTHS), paint_kind(1));
}

static double share_of(const struct axis *y, double count)
{
	double share;

	if (!(count > 0))
		return 0;
	share = (axis_place(y, count) - y->at) / y->length;
	return fmin(fmax(share, 0), 1);
}

static struct plot_frame frame_of(const struct bars_histogram *h)
{
	struct plot_frame f = h->names;

	f.x_from = h->n ? h->bin[0].from : 0;
	f.x_to = h->n ? h->bin[h->n - 1].to : 0;
	if (h->n && f.is_log_x && !(f.x_from > 0))
		f.x_from = h->bin[0].to; /* the bar of 0 begins at the edge of the plot */
	f.y_from = f.is_log_y ? 0.5 : 0;
	f.y_to = 0;
	for (size_t i = 0; i < h->n; i++)
		f.y_to = fmax(f.y_to, h->bin[i].count);
	return f;
}

/* Returns the largest count of the bins in a column. */
static double count_at(const struct bars_histogram *h, const struct axis *x, unsigned col)
{
	double most = 0;

	for (size_t k = 0; k < h->n; k++) {
		unsigned from = (unsigned)lround(axis_place(x, h->bin[k].from));
		unsigned to = (unsigned)lround(axis_place(x, h->bin[k].to));

		if (col >= from && (col < to || col == from))
			most = fmax(most, h->bin[k].count);
	}
	return most;
}

int bars_histogram_draw(struct grid *g, struct grid_area area, const struct bars_histogram *h,
			const struct paint *p)
{
	struct plot_frame f = frame_of(h);
	struct plot plot;

	if (!plot_open(g, area, &f, p, &plot))
		return -ERR_LIMIT;
	for (unsigned i = 0; i < plot.inside.cols; i++) {
		unsigned col = plot.inside.col + i;

		draw_column(g, &plot.inside, col, share_of(&plot.y, count_at(h, &plot.x, col)), p);
	}
	return 0;
}

void bars_spark_draw(struct grid *g, struct grid_span at, const struct bars_spark *s,
		     const struct paint *p)
{
	size_t first = s->n > at.width ? s->n - at.width : 0;

	for (size_t i = first; i < s->n; i++) {
		unsigned col = at.col + at.width - (unsigned)(s->n - i);
		double share = s->most > 0 ? fmin(fmax(s->value[i] / s->most, 0), 1) : 0;

		if (isfinite(s->value[i]))
			put(g, at.row, col, paint_from_below(p->glyphs, eighths_of(share, 1)),
			    s->ink);
		else
			put(g, at.row, col, paint_none(p->glyphs), PAINT_NO_INK);
	}
}
