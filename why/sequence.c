/* SPDX-License-Identifier: Apache-2.0 */
#include "why/sequence.h"

#include "stats/student.h"

#include <math.h>

static double theta_at(size_t k)
{
	double root = (double)k / SEQUENCE_GRID;

	return root * root;
}

/* Adds the logarithms of 1 + lambda gain; gain >= -worst. Returns the log of the mean capital. */
static double bet_all(double *log_m, double gain, double worst)
{
	double sum = -INFINITY;

	for (size_t i = 0; i < EPROCESS_BETS; i++) {
		double lambda = ldexp(0.5, (int)i);

		if (lambda * worst > 0.9)
			lambda = 0.9 / worst;
		log_m[i] += log1p(lambda * gain);
		sum = log_add(sum, log_m[i]);
	}
	return sum - log(EPROCESS_BETS);
}

void sequence_add(struct sequence *s, double x)
{
	if (isnan(x))
		return;
	x = fmin(fmax(x, 0), 1);
	s->n++;
	for (size_t k = 0; k <= SEQUENCE_GRID; k++) {
		double theta = theta_at(k), up = bet_all(s->above[k], x - theta, theta),
		       down = bet_all(s->below[k], theta - x, 1 - theta);

		s->log_above[k] = fmax(s->log_above[k], up);
		s->log_below[k] = fmax(s->log_below[k], down);
	}
}

void sequence_bounds(const struct sequence *s, double alpha, double *low, double *high)
{
	double limit = log(2 / alpha);
	size_t from = 0, to = SEQUENCE_GRID;

	while (from < SEQUENCE_GRID && s->log_above[from] >= limit)
		from++;
	while (to > 0 && s->log_below[to] >= limit)
		to--;
	/* The mean is above the last theta that was rejected. */
	*low = from ? theta_at(from - 1) : 0;
	*high = to < SEQUENCE_GRID ? theta_at(to + 1) : 1;
}

double sequence_width(const struct moments *m, double alpha)
{
	double n = (double)m->n, tuned, root;

	if (m->n < SEQUENCE_VALUES_MIN)
		return INFINITY;
	tuned = (-2 * log(alpha) + log(-2 * log(alpha)) + 1) / 10;
	root = sqrt(2 * (n * tuned + 1) / (n * n * tuned) * log(sqrt(n * tuned + 1) / alpha));
	return root * moments_deviation(m) * student_two_sided(1 - alpha, n - 1) /
	       normal_two_sided(1 - alpha);
}
