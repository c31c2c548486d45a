/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the public functions of stats/stats.h that return statistics. */
#include "common/base/file.h"
#include "stats/quantity.h"
#include "stats/report.h"
#include "stats/series.h"

#define EXPORT_MAX_BYTES 65536 /* an export has some twenty lines */

uint64_t quantity_count(const struct quantity *q)
{
	return quantity_moments(q)->n;
}

double quantity_mean(const struct quantity *q)
{
	return moments_mean(quantity_moments(q));
}

double quantity_variance(const struct quantity *q)
{
	return moments_variance(quantity_moments(q));
}

double quantity_deviation(const struct quantity *q)
{
	return moments_deviation(quantity_moments(q));
}

double quantity_min(const struct quantity *q)
{
	return quantity_count(q) ? quantity_moments(q)->min : NAN;
}

double quantity_max(const struct quantity *q)
{
	return quantity_count(q) ? quantity_moments(q)->max : NAN;
}

double quantity_skewness(const struct quantity *q)
{
	return moments_skewness(quantity_moments(q));
}

double quantity_kurtosis(const struct quantity *q)
{
	return moments_kurtosis(quantity_moments(q));
}

double quantity_half(const struct quantity *q, double level)
{
	return quantity_interval(q, level).half;
}

/* Returns NaN unless both store the same number of values. */
static double of_pairs(const struct quantity *x, const struct quantity *y,
		       double (*fn)(const double *x, const double *y, size_t n))
{
	size_t nx, ny;
	const double *vx = quantity_values(x, &nx), *vy = quantity_values(y, &ny);

	return nx && nx == ny ? fn(vx, vy, nx) : NAN;
}

double quantity_covariance(const struct quantity *x, const struct quantity *y)
{
	return of_pairs(x, y, series_covariance);
}

double quantity_correlation(const struct quantity *x, const struct quantity *y)
{
	return of_pairs(x, y, series_correlation);
}

int quantity_stop_on_interval(struct quantity *q, double level, double width, struct err *e)
{
	struct stop s;
	int rc = stop_on_interval(&s, level, width, e);

	if (!rc)
		quantity_set_stop(q, &s);
	return rc;
}

int quantity_stop_on(struct quantity *q, const char *rule, struct err *e)
{
	struct stop s;
	int rc = stop_parse(rule, &s, e);

	if (!rc)
		quantity_set_stop(q, &s);
	return rc;
}

void quantity_stop_after(struct quantity *q, uint64_t n)
{
	const struct stop s = { .n = 1, .term[0] = { .kind = STOP_ON_COUNT, .count = n } };

	quantity_set_stop(q, &s);
}

int quantity_export(struct quantity *q, const char *path, struct err *e)
{
	struct buf b = BUF_INIT(EXPORT_MAX_BYTES);
	int rc;

	report_text(q, &report_usual, &b);
	rc = b.failed ? err_nomem(e) : file_write_atomic(path, b.p, b.n, e);
	buf_done(&b);
	return rc;
}
