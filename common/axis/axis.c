/* SPDX-License-Identifier: Apache-2.0 */
#include "common/axis/axis.h"

#include "common/base/array.h"

#include <math.h>
#include <stdio.h>

#define TICKS 5
#define LOG_TICKS 8 /* powers of ten with ticks; if there are more, some have none */

struct axis axis_linear(double from, double to, double at, double length)
{
	if (!isfinite(from) || !isfinite(to) || fabs(from) > 1e300 || fabs(to) > 1e300)
		from = to = 0;
	if (to <= from) {
		double room = from != 0 ? fabs(from) / 10 : 1;

		from -= room;
		to = from + 2 * room;
	}
	return (struct axis){ .from = from, .to = to, .at = at, .length = length };
}

struct axis axis_of(double from, double to, double at, double length, bool is_log)
{
	struct axis a;

	if (!is_log)
		return axis_linear(from, to, at, length);
	if (!(from > 1e-300) || !(to >= from) || to > 1e300)
		from = to = 1;
	if (to <= from) {
		from /= 2;
		to = from * 4;
	}
	a = axis_linear(from, to, at, length);
	a.is_log = true;
	return a;
}

double axis_place(const struct axis *a, double v)
{
	double share = !a->is_log ? (v - a->from) / (a->to - a->from)
		       : v > 0	  ? log(v / a->from) / log(a->to / a->from)
				  : 0;

	return a->at + fmin(fmax(isfinite(share) ? share : 0, 0), 1) * a->length;
}

double axis_step(double span, unsigned n)
{
	double raw = span / n, unit = pow(10, floor(log10(raw))), k = raw / unit;

	return (k > 5 ? 10 : k > 2 ? 5 : k > 1 ? 2 : 1) * unit;
}

static void tick_words(char out[AXIS_WORDS_BYTES], double v, double step)
{
	snprintf(out, AXIS_WORDS_BYTES, "%.6g", fabs(v) < step / 2 ? 0 : v);
}

/*
 * Returns tick i: a power of ten. If the axis has at most two decades, there are ticks at 2 and 5
 * times a power, too.
 */
static double log_tick(const struct axis *a, int i)
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

bool axis_tick(const struct axis *a, int i, double *at, char words[AXIS_WORDS_BYTES])
{
	double step = axis_step(a->to - a->from, TICKS),
	       v = (ceil(a->from / step - 1e-9) + i) * step;

	if (a->is_log && a->to > 3 * a->from) {
		v = log_tick(a, i);
		step = 0;
	}
	if (i > 2 * LOG_TICKS || v > a->to + (step > 0 ? step : a->to) * 1e-9)
		return false;
	*at = axis_place(a, v);
	tick_words(words, v, step);
	return true;
}
