/* SPDX-License-Identifier: Apache-2.0 */
#include "why/change.h"

#include <math.h>

static double mean_of(const double *x, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += x[i];
	return sum / (double)(to - from);
}

/* The variance around the means of both sides of a split. */
static double variance_around(const double *x, size_t n, size_t split)
{
	double before = mean_of(x, 0, split), after = mean_of(x, split, n), sum = 0;

	for (size_t i = 0; i < n; i++) {
		double d = x[i] - (i < split ? before : after);

		sum += d * d;
	}
	return sum / (double)(n - 2);
}

size_t change_at(const double *x, size_t n)
{
	double mean, sum = 0, most = 0;
	size_t at = 0;

	if (n < 2)
		return 0;
	mean = mean_of(x, 0, n);
	for (size_t i = 1; i < n; i++) {
		double scaled;

		sum += x[i - 1] - mean;
		scaled = fabs(sum) / sqrt((double)i * (double)(n - i));
		if (scaled > most) {
			most = scaled;
			at = i;
		}
	}
	return at;
}

size_t change_find(const double *x, size_t n, double least)
{
	size_t at = change_at(x, n);
	double difference, deviation;

	if (at < CHANGE_SIDE_MIN || n - at < CHANGE_SIDE_MIN)
		return 0;
	difference = fabs(mean_of(x, 0, at) - mean_of(x, at, n));
	deviation =
		sqrt(variance_around(x, n, at) * (1 / (double)at + 1 / ((double)n - (double)at)));
	return difference >= least && difference >= CHANGE_DEVIATIONS * deviation ? at : 0;
}
