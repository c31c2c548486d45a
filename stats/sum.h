/* SPDX-License-Identifier: Apache-2.0 */
/* Sums with the rounding error of each addition (Knuth, TAOCP 2, 4.2.2; also Moller). */
#ifndef STATS_SUM_H
#define STATS_SUM_H

#include <math.h>

/* hi + lo is the sum. Zeros: an empty sum. */
struct sum {
	double hi, lo;
};

/* If a part is infinite, hi is the result of plain addition, and lo stays finite. */
static inline void sum_add(struct sum *s, double v)
{
	double hi = s->hi + v, part = hi - s->hi;

	if (isfinite(hi))
		s->lo += (s->hi - (hi - part)) + (v - part);
	s->hi = hi;
}

static inline void sum_merge(struct sum *s, const struct sum *from)
{
	sum_add(s, from->hi);
	s->lo += from->lo;
}

static inline double sum_value(const struct sum *s)
{
	return isfinite(s->hi) ? s->hi + s->lo : s->hi;
}

/* Returns v minus the sum, which is exact if the two are close. */
static inline double sum_distance(const struct sum *s, double v)
{
	return (v - s->hi) - s->lo;
}

#endif
