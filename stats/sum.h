/* SPDX-License-Identifier: Apache-2.0 */
/* Sums that keep what each addition rounds away (Knuth, TAOCP 2, 4.2.2; also Moller). */
#ifndef STATS_SUM_H
#define STATS_SUM_H

#include <math.h>

/* hi + lo is the sum. Zeros: of nothing. */
struct sum {
	double hi, lo;
};

/* With an infinite part hi is what plain addition gives, and lo stays finite. */
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

/* v less the sum: exact as far as the two are close. */
static inline double sum_distance(const struct sum *s, double v)
{
	return (v - s->hi) - s->lo;
}

#endif
