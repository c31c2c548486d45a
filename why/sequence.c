/* SPDX-License-Identifier: Apache-2.0 */
#include "why/sequence.h"

#include "stats/student.h"
#include "why/eprocess.h"

#include <math.h>

static double theta_at(size_t k)
{
	double root = (double)k / SEQUENCE_GRID;

	return root * root;
}

/* True if bets that the mean is on one side of theta have ever won 1 / error. */
static bool is_rejected(const double *x, size_t n, double theta, double error)
{
	bool is_above = error > 0;
	double limit = EPROCESS_BETS / fabs(error), worst = is_above ? theta : 1 - theta,
	       capital[EPROCESS_BETS];

	for (size_t i = 0; i < EPROCESS_BETS; i++)
		capital[i] = 1;
	for (size_t t = 0; t < n; t++) {
		double gain = is_above ? x[t] - theta : theta - x[t], sum = 0;

		for (size_t i = 0; i < EPROCESS_BETS; i++) {
			double lambda = ldexp(0.5, (int)i);

			if (lambda * worst > 0.9)
				lambda = 0.9 / worst;
			capital[i] *= 1 + lambda * gain;
			sum += capital[i];
		}
		if (sum >= limit)
			return true;
	}
	return false;
}

void sequence_bounds(const double *x, size_t n, double alpha, struct why_range *out)
{
	size_t from = 0, to = SEQUENCE_GRID;

	while (from < SEQUENCE_GRID && is_rejected(x, n, theta_at(from), alpha / 2))
		from++;
	while (to > 0 && is_rejected(x, n, theta_at(to), -alpha / 2))
		to--;
	/* The mean is beyond the last theta that was rejected. */
	out->low = from ? theta_at(from - 1) : 0;
	out->high = to < SEQUENCE_GRID ? theta_at(to + 1) : 1;
}

double sequence_width(const struct moments *m, double alpha)
{
	double n = (double)m->n, tuned, root;

	if (m->n < SEQUENCE_VALUES_MIN)
		return INFINITY;
	tuned = (-2 * log(alpha) + log(-2 * log(alpha)) + 1) / 10;
	root = sqrt(2 * (n * tuned + 1) / (n * n * tuned) * log(sqrt(n * tuned + 1) / alpha));
	/* A quarter of alpha: few values are looked at several times. */
	return root * moments_deviation(m) * student_two_sided(1 - alpha / 4, n - 1) /
	       normal_two_sided(1 - alpha / 4);
}
