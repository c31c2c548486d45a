/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/interval.h"

#include "stats/student.h"

#include <stddef.h>

/* chi-squared / 31 with 31 degrees of freedom exceeds it in 1 %, with more degrees less often */
#define INFLATION_CHANCE 1.69
#define VALUES_FEW 8 /* fewer do not reveal a correlation */

struct interval interval_of_mean(const struct moments *m, double level)
{
	struct interval i = { .mean = moments_mean(m), .half = NAN, .level = level, .df = NAN };

	if (m->n < 2)
		return i;
	i.df = (double)(m->n - 1);
	i.half = student_two_sided(level, i.df) * sqrt(moments_variance(m) / (double)m->n);
	return i;
}

struct interval interval_of_batches(const struct batches *b, double level)
{
	struct moments m;

	batches_moments(b, &m);
	return interval_of_mean(&m, level);
}

enum dependence dependence_of_neighbours(double r, uint64_t n)
{
	return n >= VALUES_FEW && serial_is_beyond_chance(r, n) ? DEPENDENCE_NEIGHBOURS
								: DEPENDENCE_NONE;
}

enum dependence dependence_of(const struct moments *m, const struct batches *b)
{
	double r = moments_serial(m);

	if (m->n < VALUES_FEW || isnan(r))
		return DEPENDENCE_NONE;
	if (serial_is_beyond_chance(r, m->n))
		return DEPENDENCE_NEIGHBOURS;
	return batches_inflation(b, m) > INFLATION_CHANCE ? DEPENDENCE_FAR : DEPENDENCE_NONE;
}

const char *dependence_words(enum dependence d)
{
	switch (d) {
	case DEPENDENCE_NONE:
		break;
	case DEPENDENCE_NEIGHBOURS:
		return "correlated values, so the interval is too narrow";
	case DEPENDENCE_FAR:
		return "values correlated over long distances, so the interval is too narrow";
	}
	return NULL;
}
