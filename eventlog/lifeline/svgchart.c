/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/svgchart.h"

#include <math.h>
#include <stdio.h>

#define CAP 3 /* half the width of the ends of an interval's line */
#define LEGEND_ROW 15
#define PLACES_MAX 16 /* labels that fit side by side below an axis */

const char svg_chart_style[] = ".curve{fill:none;stroke-width:1.6}.interval{fill:none}"
			       ".c0{stroke:#1f6feb}.c1{stroke:#d4580b}.c2{stroke:#1a7f64}"
			       ".c3{stroke:#8250df}.c4{stroke:#c81e3a}.c5{stroke:#59636e}";

struct extent {
	double from, to;
};

struct axes {
	struct axis x, y;
	const struct svg_chart *chart;
};

static bool has_place(const struct svg_chart *c, const struct svg_point *p)
{
	return isfinite(p->x) && isfinite(p->y) && (!c->is_log_x || p->x > 0) &&
	       (!c->is_log_y || p->y > 0);
}

static void widen(struct extent *e, double v, bool is_log)
{
	if (!isfinite(v) || (is_log && v <= 0))
		return;
	e->from = fmin(e->from, v);
	e->to = fmax(e->to, v);
}

static struct axes find_axes(const struct svg_chart *c)
{
	struct extent x = { INFINITY, -INFINITY }, y = x;

	for (size_t k = 0; k < c->n; k++)
		for (size_t i = 0; i < c->curve[k].n; i++) {
			const struct svg_point *p = &c->curve[k].point[i];
			double half = isfinite(p->half) ? p->half : 0;

			if (!has_place(c, p))
				continue;
			widen(&x, p->x, c->is_log_x);
			widen(&y, p->y, c->is_log_y);
			widen(&y, p->y - half, c->is_log_y);
			widen(&y, p->y + half, c->is_log_y);
		}
	return (struct axes){
		.x = axis_of(x.from, x.to, c->left, c->wide, c->is_log_x),
		.y = axis_of(y.from, y.to, c->top + c->high, -c->high, c->is_log_y),
		.chart = c,
	};
}

static void draw_grid(struct buf *out, const struct axes *a)
{
	const struct svg_chart *c = a->chart;
	double bottom = c->top + c->high;
	size_t step = c->nplace / PLACES_MAX + 1;

	svg_ticks_y(out, &a->y, c->left, c->left + c->wide);
	if (!c->place)
		svg_ticks_x(out, &a->x, c->top, bottom);
	for (size_t i = 0; c->place && i < c->nplace; i += step)
		svg_text(out, axis_place(&a->x, (double)i), bottom + 14,
			 "class=\"soft\" text-anchor=\"middle\"", c->place[i]);
	svg_text(out, c->left + c->wide, bottom + 30, "class=\"soft\" text-anchor=\"end\"",
		 c->x_words);
	svg_text(out, c->left, c->top - 8, "class=\"soft\"", c->y_words);
}

static void draw_interval(struct buf *out, const struct axes *a, const struct svg_point *p,
			  size_t colour)
{
	double x = axis_place(&a->x, p->x);
	double low = axis_place(&a->y, p->y - p->half), high = axis_place(&a->y, p->y + p->half);

	buf_printf(out,
		   "<path class=\"interval c%zu\" d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1fM%.1f "
		   "%.1fH%.1f\"/>\n",
		   colour, x, low, high, x - CAP, low, x + CAP, x - CAP, high, x + CAP);
}

/* Returns the number of points that have no place on the axes. */
static size_t draw_curve(struct buf *out, const struct axes *a, size_t number)
{
	const struct svg_curve *v = &a->chart->curve[number];
	size_t colour = number % SVG_COLOURS, missing = 0;
	char move = 'M';

	buf_printf(out, "<path class=\"curve c%zu\" d=\"M0 0", colour);
	for (size_t i = 0; i < v->n; i++) {
		if (!has_place(a->chart, &v->point[i])) {
			missing++;
			move = 'M'; /* a gap interrupts the line */
			continue;
		}
		buf_printf(out, "%c%.1f %.1f", move, axis_place(&a->x, v->point[i].x),
			   axis_place(&a->y, v->point[i].y));
		move = 'L';
	}
	buf_puts(out, "\"/>\n");
	for (size_t i = 0; a->chart->has_dots && i < v->n; i++) {
		const struct svg_point *p = &v->point[i];

		if (!has_place(a->chart, p))
			continue;
		buf_printf(out,
			   "<circle class=\"c%zu\" fill=\"#fff\" cx=\"%.1f\" cy=\"%.1f\" "
			   "r=\"2.5\"/>\n",
			   colour, axis_place(&a->x, p->x), axis_place(&a->y, p->y));
		if (isfinite(p->half))
			draw_interval(out, a, p, colour);
	}
	return missing;
}

static void draw_legend(struct buf *out, const struct svg_chart *c)
{
	double x = c->left + c->wide + 12, y = c->top + 6;

	if (c->n == 1 && !*c->curve[0].name)
		return;
	for (size_t i = 0; i < c->n && y < c->top + c->high; i++, y += LEGEND_ROW) {
		buf_printf(out, "<path class=\"curve c%zu\" d=\"M%.1f %.1fh14\"/>\n",
			   i % SVG_COLOURS, x, y);
		svg_text(out, x + 19, y + 4, "class=\"soft\"", c->curve[i].name);
	}
}

size_t svg_chart(struct buf *out, const struct svg_chart *c)
{
	const struct axes a = find_axes(c);
	size_t missing = 0;

	draw_grid(out, &a);
	for (size_t i = 0; i < c->n; i++)
		missing += draw_curve(out, &a, i);
	draw_legend(out, c);
	return missing;
}
