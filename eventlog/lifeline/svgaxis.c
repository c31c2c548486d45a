/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/svgaxis.h"

#include "common/base/array.h"
#include "eventlog/lifeline/lifepage.h"

#include <math.h>
#include <stdio.h>

#define TICKS 5
#define LOG_TICKS 8 /* powers of ten; more are passed over */

struct svg_axis svg_axis(double from, double to, double at, double length)
{
	if (!isfinite(from) || !isfinite(to) || fabs(from) > 1e300 || fabs(to) > 1e300)
		from = to = 0;
	if (to <= from) {
		double room = from != 0 ? fabs(from) / 10 : 1;

		from -= room;
		to = from + 2 * room;
	}
	return (struct svg_axis){ .from = from, .to = to, .at = at, .length = length };
}

struct svg_axis svg_axis_of(double from, double to, double at, double length, bool is_log)
{
	struct svg_axis a;

	if (!is_log)
		return svg_axis(from, to, at, length);
	if (!(from > 1e-300) || !(to >= from) || to > 1e300)
		from = to = 1;
	if (to <= from) {
		from /= 2;
		to = from * 4;
	}
	a = svg_axis(from, to, at, length);
	a.is_log = true;
	return a;
}

double svg_place(const struct svg_axis *a, double v)
{
	double share = !a->is_log ? (v - a->from) / (a->to - a->from)
		       : v > 0	  ? log(v / a->from) / log(a->to / a->from)
				  : 0;

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

/* Powers of ten; 1, 2 and 5 times one where they are few. */
static double log_tick(const struct svg_axis *a, int i)
{
	static const double part[] = { 1, 2, 5 };
	double decades = log10(a->to / a->from), first = floor(log10(a->from));
	int parts = decades > 2 ? 1 : (int)ARRAY_LEN(part);
	int jump = (int)ceil(decades / LOG_TICKS);
	int skipped = 0;

	while (part[skipped % parts] * pow(10, first + skipped / parts) < a->from * (1 - 1e-9))
		skipped++;
	i += skipped;
	return part[i % parts] * pow(10, first + (i / parts) * jump);
}

/* Number i of an axis: where it is, and its words. False: there are no more. */
static bool tick(const struct svg_axis *a, int i, double *at, char words[32])
{
	double step = svg_tick_step(a->to - a->from, TICKS),
	       v = (ceil(a->from / step - 1e-9) + i) * step;

	if (a->is_log && a->to > 3 * a->from) {
		v = log_tick(a, i);
		step = 0;
	}
	if (i > 2 * LOG_TICKS || v > a->to + (step > 0 ? step : a->to) * 1e-9)
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
