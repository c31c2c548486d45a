/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of pictures: a scale, and ticks with grid lines and labels, as SVG. */
#ifndef EVENTLOG_LIFELINE_SVGAXIS_H
#define EVENTLOG_LIFELINE_SVGAXIS_H

#include "common/base/buf.h"

#include <stdbool.h>

/* A scale from values to a span of the picture. */
struct svg_axis {
	double from, to; /* finite; from < to; both above 0 if is_log */
	double at, length; /* pixels */
	bool is_log; /* logarithmic */
};

/* Makes a scale; equal values get some room around them. */
struct svg_axis svg_axis(double from, double to, double at, double length);
/* The same for a scale that may be logarithmic. There a value <= 0 lies at the lower end. */
struct svg_axis svg_axis_of(double from, double to, double at, double length, bool is_log);
/* Returns the pixel of v; a value outside of the scale, or NaN, is at one of its ends. */
double svg_place(const struct svg_axis *a, double v);

/*
 * Draw ticks with their lines: x from top to bottom, labels below; y from left to right, labels at
 * the left.
 */
void svg_ticks_x(struct buf *out, const struct svg_axis *a, double top, double bottom);
void svg_ticks_y(struct buf *out, const struct svg_axis *a, double left, double right);
void svg_text(struct buf *out, double x, double y, const char *attributes, const char *text);

/* Returns a step of 1, 2 or 5 times a power of ten, for about n ticks. */
double svg_tick_step(double span, unsigned n);

#endif
