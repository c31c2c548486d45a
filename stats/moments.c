/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass: Pebay, Formulas for Robust, One-Pass Parallel Computation of Covariances and
 * Arbitrary-Order Statistical Moments (SAND2008-6212).
 *
 * Each sum also stores its rounding errors. In a plain double, a step of a mean near 10^9 is soon
 * smaller than the last digit.
 */
#include "stats/moments.h"

#define CHANCE_Z 2.326 /* normal quantile of a one-sided test at 1 % */

/* Higher moments are updated first: they need the old values of the lower ones. */
void powers_add(struct powers *p, uint64_t n_before, double v)
{
	double before = (double)n_before, n = before + 1, delta = sum_distance(&p->mean, v), part,
	       term;

	/* The square of a single value may overflow, and one value has no spread. */
	if (!n_before) {
		p->mean = (struct sum){ v, 0 };
		return;
	}
	part = delta / n;
	term = delta * part * before;
	sum_add(&p->m4, term * part * part * (n * n - 3 * n + 3) +
				6 * part * part * sum_value(&p->m2) - 4 * part * sum_value(&p->m3));
	sum_add(&p->m3, term * part * (n - 2) - 3 * part * sum_value(&p->m2));
	sum_add(&p->m2, term);
	sum_add(&p->mean, part);
}

/* Requires that both have values. */
static void merge(struct powers *p, double na, const struct powers *from, double nb)
{
	double n = na + nb, wa = na / n, wb = nb / n;
	double a2 = sum_value(&p->m2), b2 = sum_value(&from->m2);
	double a3 = sum_value(&p->m3), b3 = sum_value(&from->m3);
	double delta = sum_distance(&p->mean, from->mean.hi) + from->mean.lo,
	       square = delta * delta;

	sum_merge(&p->m4, &from->m4);
	sum_add(&p->m4, square * square * na * wb * (wa * wa - wa * wb + wb * wb));
	sum_add(&p->m4,
		6 * square * (wa * wa * b2 + wb * wb * a2) + 4 * delta * (wa * b3 - wb * a3));
	sum_merge(&p->m3, &from->m3);
	sum_add(&p->m3, square * delta * na * wb * (wa - wb) + 3 * delta * (wa * b2 - wb * a2));
	sum_merge(&p->m2, &from->m2);
	sum_add(&p->m2, square * na * wb);
	sum_add(&p->mean, delta * wb);
}

void powers_merge(struct powers *p, uint64_t n, const struct powers *from, uint64_t n_from)
{
	if (!n)
		*p = *from;
	else if (n_from)
		merge(p, (double)n, from, (double)n_from);
}

static void note_range(struct moments *m, double v)
{
	double step = v - m->last;

	if (!m->n) {
		m->min = m->max = m->first = v;
	} else {
		m->min = v < m->min ? v : m->min;
		m->max = v > m->max ? v : m->max;
		sum_add(&m->steps, step * step);
	}
	m->last = v;
}

bool moments_add(struct moments *m, double v)
{
	if (!isfinite(v))
		return false;
	note_range(m, v);
	powers_add(&m->powers, m->n++, v);
	return true;
}

void moments_merge(struct moments *m, const struct moments *from)
{
	double step = from->first - m->last;

	if (!from->n)
		return;
	if (!m->n) {
		*m = *from;
		return;
	}
	powers_merge(&m->powers, m->n, &from->powers, from->n);
	sum_merge(&m->steps, &from->steps);
	sum_add(&m->steps, step * step);
	m->last = from->last;
	m->min = from->min < m->min ? from->min : m->min;
	m->max = from->max > m->max ? from->max : m->max;
	m->n += from->n;
}

struct moments moments_known(uint64_t n, double mean, double squares, double min, double max)
{
	return (struct moments){ .n = n,
				 .powers = { .mean = { mean, 0 }, .m2 = { squares, 0 } },
				 .min = min,
				 .max = max };
}

double moments_mean(const struct moments *m)
{
	return m->n ? sum_value(&m->powers.mean) : NAN;
}

double moments_squares(const struct moments *m)
{
	double m2 = sum_value(&m->powers.m2);

	return m2 < 0 ? 0 : m2;
}

double moments_variance(const struct moments *m)
{
	return m->n < 2 ? NAN : moments_squares(m) / (double)(m->n - 1);
}

double moments_deviation(const struct moments *m)
{
	return sqrt(moments_variance(m));
}

double moments_skewness(const struct moments *m)
{
	double s = moments_deviation(m);

	return s > 0 ? sum_value(&m->powers.m3) / (double)m->n / (s * s * s) : NAN;
}

double moments_kurtosis(const struct moments *m)
{
	double v = moments_variance(m);

	return v > 0 ? sum_value(&m->powers.m4) / (double)m->n / (v * v) - 3 : NAN;
}

/*
 * Computes the sum of (x_t - mean)(x_t+1 - mean) = M2 - (first^2 + last^2) / 2 - steps / 2. The
 * first and last value are distances to the mean, so that a large mean costs no precision.
 */
double moments_serial(const struct moments *m)
{
	double m2 = sum_value(&m->powers.m2), a = sum_distance(&m->powers.mean, m->first),
	       b = sum_distance(&m->powers.mean, m->last), r;

	if (m->n < 2 || !(m2 > 0))
		return NAN;
	r = 1 - (a * a + b * b + sum_value(&m->steps)) / 2 / m2;
	return r < -1 ? -1 : r > 1 ? 1 : r;
}

bool serial_is_beyond_chance(double r, uint64_t n)
{
	return r * sqrt((double)n) > CHANCE_Z;
}
