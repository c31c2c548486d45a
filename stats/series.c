/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/series.h"

#include "stats/moments.h"
#include "stats/pairs.h"

#define MSER_BATCHES_MIN 4

/* Returns the mean as a distance to the first value, so that a large mean costs no precision. */
static double mean_distance(const double *x, size_t n)
{
	struct sum s = { 0, 0 };

	for (size_t i = 0; i < n; i++)
		sum_add(&s, x[i] - x[0]);
	return sum_value(&s) / (double)n;
}

/* Returns the sum of x[i] x[i + lag], both as distances to the mean. `mean` is relative to x[0]. */
static double products(const double *x, double mean, size_t n, size_t lag)
{
	struct sum s = { 0, 0 };

	for (size_t i = 0; i + lag < n; i++)
		sum_add(&s, (x[i] - x[0] - mean) * (x[i + lag] - x[0] - mean));
	return sum_value(&s);
}

static struct pairs pairs_of(const double *x, const double *y, size_t n)
{
	struct pairs p = { 0 };

	for (size_t i = 0; i < n; i++)
		pairs_add(&p, i, x[i], y[i]);
	return p;
}

double series_covariance(const double *x, const double *y, size_t n)
{
	struct pairs p = pairs_of(x, y, n);

	return pairs_covariance(&p, n);
}

double series_correlation(const double *x, const double *y, size_t n)
{
	struct pairs p = pairs_of(x, y, n);

	return pairs_correlation(&p, n);
}

double series_autocorrelation(const double *x, size_t n, size_t lag)
{
	double mean, square;

	if (n < 2 || lag >= n)
		return NAN;
	mean = mean_distance(x, n);
	square = products(x, mean, n, 0);
	return square > 0 ? products(x, mean, n, lag) / square : NAN;
}

static double mean_of_batch(const double *x)
{
	double off = 0;

	for (size_t i = 1; i < SERIES_MSER_BATCH; i++)
		off += x[i] - x[0];
	return x[0] + off / SERIES_MSER_BATCH;
}

/* Runs backwards, so that one pass computes the moments of each remaining sequence. */
size_t series_transient(const double *x, size_t n)
{
	size_t batches = n / SERIES_MSER_BATCH, best = 0;
	double least = INFINITY;
	struct moments rest = { 0 };

	if (batches < MSER_BATCHES_MIN)
		return SERIES_UNSETTLED;
	for (size_t i = batches; i > 0; i--) {
		double left, error;

		moments_add(&rest, mean_of_batch(x + (i - 1) * SERIES_MSER_BATCH));
		left = (double)rest.n;
		error = moments_variance(&rest) * (left - 1) / (left * left);
		/*
		 * A few remaining values may have a small variance by chance: that shows no steady
		 * state.
		 */
		if (rest.n >= MSER_BATCHES_MIN && error <= least) {
			least = error;
			best = i - 1;
		}
	}
	return best > batches / 2 ? SERIES_UNSETTLED : best * SERIES_MSER_BATCH;
}
