/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/series.h"

#include "stats/moments.h"

#define MSER_BATCHES_MIN 4

/* As a distance to the first value, so that a large mean costs nothing. */
static double mean_distance(const double *x, size_t n)
{
	struct sum s = { 0, 0 };

	for (size_t i = 0; i < n; i++)
		sum_add(&s, x[i] - x[0]);
	return sum_value(&s) / (double)n;
}

/* Of distances to the means: sum of x[i] y[i]. */
static double products(const double *x, double x_origin, double x_mean, const double *y,
		       double y_origin, double y_mean, size_t n)
{
	struct sum s = { 0, 0 };

	for (size_t i = 0; i < n; i++)
		sum_add(&s, (x[i] - x_origin - x_mean) * (y[i] - y_origin - y_mean));
	return sum_value(&s);
}

static double product_of(const double *x, const double *y, size_t n)
{
	return products(x, x[0], mean_distance(x, n), y, y[0], mean_distance(y, n), n);
}

double series_covariance(const double *x, const double *y, size_t n)
{
	return n < 2 ? NAN : product_of(x, y, n) / (double)(n - 1);
}

double series_correlation(const double *x, const double *y, size_t n)
{
	double size, r;

	if (n < 2)
		return NAN;
	size = sqrt(product_of(x, x, n)) * sqrt(product_of(y, y, n));
	r = size > 0 ? product_of(x, y, n) / size : NAN;
	return r < -1 ? -1 : r > 1 ? 1 : r;
}

double series_autocorrelation(const double *x, size_t n, size_t lag)
{
	double mean, square;

	if (n < 2 || lag >= n)
		return NAN;
	mean = mean_distance(x, n);
	square = products(x, x[0], mean, x, x[0], mean, n);
	return square > 0 ? products(x, x[0], mean, x + lag, x[0], mean, n - lag) / square : NAN;
}

static double mean_of_batch(const double *x)
{
	double off = 0;

	for (size_t i = 1; i < SERIES_MSER_BATCH; i++)
		off += x[i] - x[0];
	return x[0] + off / SERIES_MSER_BATCH;
}

/* From the end, so that one pass has the moments of each rest. */
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
		/* The rest of a few may have any variance: that is no sign of having settled. */
		if (rest.n >= MSER_BATCHES_MIN && error <= least) {
			least = error;
			best = i - 1;
		}
	}
	return best > batches / 2 ? SERIES_UNSETTLED : best * SERIES_MSER_BATCH;
}
