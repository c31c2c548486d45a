/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales of pictures: from values to a span of pixels or of cells, and the values that get a tick.
 * All functions are pure: any thread.
 */
#ifndef COMMON_AXIS_AXIS_H
#define COMMON_AXIS_AXIS_H

#include <stdbool.h>

struct axis {
	double from, to; /* finite; from < to; both above 0 if is_log */
	double at, length; /* pixels or cells; a negative length goes up */
	bool is_log; /* logarithmic */
};

/* Makes a scale; equal values get some room around them. */
struct axis axis_linear(double from, double to, double at, double length);
/* The same for a scale that may be logarithmic. There a value <= 0 lies at the lower end. */
struct axis axis_of(double from, double to, double at, double length, bool is_log);
/* Returns the place of v; a value outside of the scale, or NaN, is at one of its ends. */
double axis_place(const struct axis *a, double v);

#define AXIS_WORDS_BYTES 32

/* Returns the place and the label of tick i, in ascending order. False: there are no more. */
bool axis_tick(const struct axis *a, int i, double *at, char words[AXIS_WORDS_BYTES]);

/* Returns a step of 1, 2 or 5 times a power of ten, for about n ticks. */
double axis_step(double span, unsigned n);

#endif
