/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/svgaxis.h"

#include "eventlog/lifeline/lifepage.h"

#include <math.h>
#include <stdio.h>

#define TICKS 5

struct svg_axis svg_axis(double from, double to, double at, double length)
{
	if (!isfinite(from) || !isfinite(to) || fabs(from) > 1e300 || fabs(to) > 1e300)
		from = to = 0;
	if (to <= from) {
		double room = from != 0 ? fabs(from) / 10 : 1;

		from -= room;
		to = from + 2 * room;
	}
	return (struct svg_axis){ from, to, at, length };
}

double svg_place(const struct svg_axis *a, double v)
{
	double share = (v - a->from) / (a->to - a->from);

	return a->at + fmin(fmax(isfinite(share) ? share : 0, 0), 1) * a->length;
}

double svg_tick_step(double span, unsigned n)
{
	double raw = span / n, unit = pow(10, floor(log10(raw))), k = raw / unit;

	return (k > 5 ? 10 : k > 2 ? 5 : k > 1 ? 2 : 1) * unit;
}

void svg_text(struct buf *out, double x, double y, const char *attributes, const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
	lifepage_put_text(out, text);
	buf_puts(out, "</text>\n");
}

static void tick_words(char out[32], double v, double step)
{
	snprintf(out, 32, "%.6g", fabs(v) < step / 2 ? 0 : v);
}

/* Number i of an axis: where it is, and its words. False: there are no more. */
static bool tick(const struct svg_axis *a, int i, double *at, char words[32])
{
	double step = svg_tick_step(a->to - a->from, TICKS),
	       v = (ceil(a->from / step - 1e-9) + i) * step;

	if (i > 2 * TICKS || v > a->to + step * 1e-9)
		return false;
	*at = svg_place(a, v);
	tick_words(words, v, step);
	return true;
}

void svg_ticks_x(struct buf *out, const struct svg_axis *a, double top, double bottom)
{
	char words[32];
	double x;

	for (int i = 0; tick(a, i, &x, words); i++) {
		buf_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, top, bottom);
		svg_text(out, x, bottom + 14, "class=\"soft\" text-anchor=\"middle\"", words);
	}
}

void svg_ticks_y(struct buf *out, const struct svg_axis *a, double left, double right)
{
	char words[32];
	double y;

	for (int i = 0; tick(a, i, &y, words); i++) {
		buf_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", left, y, right);
		svg_text(out, left - 6, y + 4, "class=\"soft\" text-anchor=\"end\"", words);
	}
}
