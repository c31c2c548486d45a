/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales of pictures: they map values to pixels or cells, and choose the values of ticks. All
 * functions are pure. Any thread.
 */
#ifndef COMMON_AXIS_AXIS_H
#define COMMON_AXIS_AXIS_H

#include <stdbool.h>

struct axis {
	double from, to; /* values at the ends; finite; from < to; both above 0 if is_log */
	double at, length; /* in pixels or cells; a negative length means upwards */
	bool is_log; /* logarithmic */
};

/* Makes a scale; equal values get some room around them. */
struct axis axis_linear(double from, double to, double at, double length);
/* Makes a scale that may be logarithmic. There a value <= 0 is at the lower end. */
struct axis axis_of(double from, double to, double at, double length, bool is_log);
/* Returns the position of v; values outside of the scale, and NaN, are at its ends. */
double axis_place(const struct axis *a, double v);

#define AXIS_WORDS_BYTES 32

/* Sets the position and the label of tick i, in ascending order. Returns false at the end. */
bool axis_tick(const struct axis *a, int i, double *at, char words[AXIS_WORDS_BYTES]);

/* Returns a step of 1, 2 or 5 times a power of ten, for about n ticks. */
double axis_step(double span, unsigned n);

#endif
