/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass: Pebay, Formulas for Robust, One-Pass Parallel Computation of Covariances and
 * Arbitrary-Order Statistical Moments (SAND2008-6212). In front of plain double, each sum keeps
 * what its additions round away: with a mean of 10^9 a step of the mean soon is less than its last digit.
 */
#include "stats/moments.h"

static double distance(double v, const struct sum *mean)
{
	return (v - mean->hi) - mean->lo;
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
	double before = (double)m->n, n = before + 1, delta, part, term;

	if (!isfinite(v))
		return false;
	note_range(m, v);
	m->n++;
	delta = distance(v, &m->mean);
	part = delta / n;
	term = delta * part * before;
	sum_add(&m->m4, term * part * part * (n * n - 3 * n + 3) +
				6 * part * part * sum_value(&m->m2) - 4 * part * sum_value(&m->m3));
	sum_add(&m->m3, term * part * (n - 2) - 3 * part * sum_value(&m->m2));
	sum_add(&m->m2, term);
	sum_add(&m->mean, part);
	return true;
}

/* The higher moments first: they need the lower ones of before. */
static void merge_powers(struct moments *m, const struct moments *from, double delta)
{
	double na = (double)m->n, nb = (double)from->n, n = na + nb;
	double a2 = sum_value(&m->m2), b2 = sum_value(&from->m2);
	double a3 = sum_value(&m->m3), b3 = sum_value(&from->m3);
	double wa = na / n, wb = nb / n, square = delta * delta;

	sum_merge(&m->m4, &from->m4);
	sum_add(&m->m4, square * square * na * wb * (wa * wa - wa * wb + wb * wb));
	sum_add(&m->m4,
		6 * square * (wa * wa * b2 + wb * wb * a2) + 4 * delta * (wa * b3 - wb * a3));
	sum_merge(&m->m3, &from->m3);
	sum_add(&m->m3, square * delta * na * wb * (wa - wb) + 3 * delta * (wa * b2 - wb * a2));
	sum_merge(&m->m2, &from->m2);
	sum_add(&m->m2, square * na * wb);
	sum_add(&m->mean, delta * wb);
}

void moments_merge(struct moments *m, const struct moments *from)
{
	double delta, step;

	if (!from->n)
		return;
	if (!m->n) {
		*m = *from;
		return;
	}
	delta = distance(from->mean.hi, &m->mean) + from->mean.lo;
	step = from->first - m->last;
	merge_powers(m, from, delta);
	sum_merge(&m->steps, &from->steps);
	sum_add(&m->steps, step * step);
	m->last = from->last;
	m->min = from->min < m->min ? from->min : m->min;
	m->max = from->max > m->max ? from->max : m->max;
	m->n += from->n;
}

double moments_mean(const struct moments *m)
{
	return m->n ? sum_value(&m->mean) : NAN;
}

double moments_variance(const struct moments *m)
{
	double m2 = sum_value(&m->m2);

	return m->n < 2 ? NAN : m2 < 0 ? 0 : m2 / (double)(m->n - 1);
}

double moments_deviation(const struct moments *m)
{
	return sqrt(moments_variance(m));
}

double moments_skewness(const struct moments *m)
{
	double s = moments_deviation(m);

	return s > 0 ? sum_value(&m->m3) / (double)m->n / (s * s * s) : NAN;
}

double moments_kurtosis(const struct moments *m)
{
	double v = moments_variance(m);

	return v > 0 ? sum_value(&m->m4) / (double)m->n / (v * v) - 3 : NAN;
}

double moments_sum(const struct moments *m)
{
	return (double)m->n * m->mean.hi + (double)m->n * m->mean.lo;
}

/*
 * sum (x_t - mean)(x_t+1 - mean) = M2 - (first^2 + last^2) / 2 - steps / 2, the two ends as distances
 * to the mean: differences only, so that a large mean costs nothing.
 */
double moments_serial(const struct moments *m)
{
	double m2 = sum_value(&m->m2), a = distance(m->first, &m->mean),
	       b = distance(m->last, &m->mean), r;

	if (m->n < 2 || !(m2 > 0))
		return NAN;
	r = 1 - (a * a + b * b + sum_value(&m->steps)) / 2 / m2;
	return r < -1 ? -1 : r > 1 ? 1 : r;
}
