/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics that need the values: correlation, transients, outliers, histograms. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "stats/histogram.h"
#include "stats/series.h"
#include "tests/suite.h"
#include "tests/unit/stats/strd.h"

#include <math.h>
#include <string.h>

TEST(lag_one_is_what_nist_certifies)
{
	static struct strd s;

	for (unsigned i = 0; i < STRD_SETS; i++) {
		double r;

		strd_get(i, &s);
		r = series_autocorrelation(s.value, s.n, 1);
		ck_assert_msg(fabs(r / s.serial - 1) < 1e-13 + s.serial_off, "%s: %.17g", s.name,
			      r);
		ck_assert_double_eq(series_autocorrelation(s.value, s.n, 0), 1);
		ck_assert(isnan(series_autocorrelation(s.value, s.n, s.n)));
	}
}

TEST(covariance_and_correlation_are_right_far_from_zero)
{
	/* (1,2) (2,1) (3,4) (4,3) (5,5): covariance 2, correlation 0.8. */
	double x[] = { 1, 2, 3, 4, 5 }, y[] = { 2, 1, 4, 3, 5 };

	for (double offset = 0; offset < 1e12; offset = offset * 1000 + 1000) {
		double a[5], b[5];

		for (unsigned i = 0; i < 5; i++) {
			a[i] = x[i] + offset;
			b[i] = y[i] - offset;
		}
		ck_assert_double_eq_tol(series_covariance(a, b, 5), 2, 1e-14);
		ck_assert_double_eq_tol(series_correlation(a, b, 5), 0.8, 1e-15);
	}
	ck_assert_double_eq_tol(series_correlation(x, x, 5), 1, 1e-15);
	ck_assert(isnan(series_covariance(x, y, 1)));
	ck_assert(isnan(series_correlation(x, (double[]){ 3, 3, 3, 3, 3 }, 5)));
}

/* Falls from 1 + height to 1 in `length` values, with some noise everywhere. */
static void settling(double *v, size_t n, size_t length, double height, struct rng *r)
{
	for (size_t i = 0; i < n; i++)
		v[i] = 1 + rng_double(r) * 0.2 +
		       (i < length ? height * (double)(length - i) / (double)length : 0);
}

TEST(a_transient_ends_where_values_have_settled)
{
	static double v[2000];
	struct rng r;

	rng_init(&r, 31);
	for (size_t length = 0; length <= 600; length += 50) {
		size_t cut;

		settling(v, 2000, length, 50, &r);
		cut = series_transient(v, 2000);
		ck_assert_msg(cut % SERIES_MSER_BATCH == 0 && cut <= length + 100 &&
				      cut + 15 >= length,
			      "%zu of %zu", cut, length);
	}
}

TEST(unsettled_series_is_reported)
{
	static double v[1000];
	struct rng r;

	rng_init(&r, 32);
	settling(v, 1000, 900, 50, &r);
	ck_assert_uint_eq(series_transient(v, 1000), SERIES_UNSETTLED);
	settling(v, 1000, 0, 0, &r);
	ck_assert_uint_eq(series_transient(v, 19), SERIES_UNSETTLED);
	ck_assert_uint_ne(series_transient(v, 1000), SERIES_UNSETTLED);
	ck_assert_uint_eq(series_transient(v, 0), SERIES_UNSETTLED);
}

static struct quantity *of_values(const double *v, size_t n)
{
	struct quantity_options w = { .name = "x", .kind = QUANTITY_VALUES };
	struct quantity *q = NULL;

	ck_assert_int_eq(quantity_open(&w, &q, NULL), 0);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(quantity_add_at(q, (nsec_t)i, v[i]), 0);
	return q;
}

static void expect(struct quantity *q, const double *wanted, size_t n)
{
	size_t got;
	const double *v = quantity_values(q, &got);
	double sum = 0;

	ck_assert_uint_eq(got, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_double_eq(v[i], wanted[i]);
		sum += wanted[i];
	}
	ck_assert_uint_eq(quantity_moments(q)->n, n);
	if (n)
		ck_assert_double_eq_tol(moments_mean(quantity_moments(q)), sum / (double)n, 1e-12);
	quantity_free(q);
}

TEST(the_requested_number_of_outliers_is_removed)
{
	static const double v[] = { 5, 1, 9, 1, 5, 9, 1, 7 };
	struct quantity *q = of_values(v, 8);

	ck_assert_int_eq(quantity_trim(q, 2, 1), 0);
	ck_assert_uint_eq(quantity_dropped(q), 3);
	expect(q, (double[]){ 5, 5, 9, 1, 7 }, 5);
	q = of_values(v, 8);
	ck_assert_int_eq(quantity_trim(q, 0, 0), 0);
	expect(q, v, 8);
	q = of_values(v, 8);
	ck_assert_int_eq(quantity_trim(q, 4, 3), 0);
	expect(q, (double[]){ 5 }, 1);
	q = of_values(v, 8);
	ck_assert_int_eq(quantity_trim(q, 4, 4), 0);
	expect(q, NULL, 0);
	q = of_values(v, 8);
	ck_assert_int_eq(quantity_trim(q, SIZE_MAX, SIZE_MAX), 0);
	expect(q, NULL, 0);
	q = of_values((double[]){ 2, 2, 2 }, 3);
	ck_assert_int_eq(quantity_trim(q, 1, 1), 0);
	expect(q, (double[]){ 2 }, 1);
}

TEST(values_outside_the_fence_are_removed)
{
	/* Quartiles 2 and 4: the fence at 3 is -4 to 10. */
	struct quantity *q = of_values((double[]){ 1, 2, 3, 4, 11 }, 5);

	ck_assert_int_eq(quantity_trim_beyond(q, 3), 0);
	expect(q, (double[]){ 1, 2, 3, 4 }, 4);
	q = of_values((double[]){ 1, 2, 3, 4, 10 }, 5);
	ck_assert_int_eq(quantity_trim_beyond(q, 3), 0);
	expect(q, (double[]){ 1, 2, 3, 4, 10 }, 5);
	q = of_values(NULL, 0);
	ck_assert_int_eq(quantity_trim_beyond(q, 3), 0);
	quantity_free(q);
}

TEST(both_ends_can_be_dropped)
{
	static const double v[] = { 1, 2, 3, 4, 5 };
	struct quantity *q = of_values(v, 5);
	struct quantity_options w = { .name = "x" };

	ck_assert_int_eq(quantity_drop_ends(q, 1, 2), 0);
	expect(q, v + 1, 2);
	q = of_values(v, 5);
	ck_assert_int_eq(quantity_drop_ends(q, 3, SIZE_MAX), 0);
	expect(q, NULL, 0);
	ck_assert_int_eq(quantity_open(&w, &q, NULL), 0);
	ck_assert_int_eq(quantity_drop_ends(q, 1, 0), -ERR_INVALID);
	ck_assert_int_eq(quantity_trim(q, 1, 0), -ERR_INVALID);
	ck_assert_int_eq(quantity_trim_beyond(q, 1), -ERR_INVALID);
	ck_assert_int_eq(quantity_drop_transient(q, NULL), -ERR_INVALID);
	quantity_free(q);
}

TEST(a_transient_of_a_quantity_is_left_out)
{
	static double v[1000];
	struct quantity *q;
	struct rng r;

	rng_init(&r, 33);
	settling(v, 1000, 200, 50, &r);
	q = of_values(v, 1000);
	ck_assert_int_eq(quantity_drop_transient(q, NULL), 0);
	ck_assert(quantity_dropped(q) >= 190 && quantity_dropped(q) <= 300);
	ck_assert(quantity_moments(q)->max < 3);
	ck_assert_double_eq(quantity_quantile(q, 1, NULL), quantity_moments(q)->max);
	quantity_free(q);
}

static uint64_t sum_of(const struct histogram *h)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < h->n; i++)
		sum += h->count[i];
	return sum;
}

TEST(each_value_is_in_one_bin)
{
	struct quantity_options w = { .name = "x" };
	struct quantity *q, *s;
	struct histogram h;
	struct rng r;

	q = of_values((double[]){ 0, 1, 2, 3, 4, 4 }, 6);
	histogram_of(q, 4, &h);
	ck_assert_uint_eq(h.n, 4);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(h.count[i], i == 3 ? 3 : 1);
		ck_assert_double_eq(histogram_edge(&h, i), i);
	}
	ck_assert_double_eq(histogram_edge(&h, 4), 4);
	quantity_free(q);

	q = of_values(NULL, 0);
	ck_assert_int_eq(quantity_open(&w, &s, NULL), 0);
	histogram_of(q, 0, &h);
	ck_assert_uint_eq(h.n, 0);
	rng_init(&r, suite_seed(34));
	for (int i = 0; i < 5000; i++) {
		double v = exp(8 * rng_double(&r));

		quantity_add(q, v);
		quantity_add(s, v);
	}
	for (unsigned bins = 0; bins < 2 * HISTOGRAM_BINS_MAX; bins += 7) {
		histogram_of(q, bins, &h);
		ck_assert(h.n >= 1 && h.n <= (bins ? HISTOGRAM_BINS_MAX : HISTOGRAM_BINS_USUAL));
		ck_assert_uint_eq(sum_of(&h), 5000);
		histogram_of(s, bins, &h);
		ck_assert_uint_eq(sum_of(&h), 5000);
	}
	quantity_free(q);
	quantity_free(s);
	q = of_values((double[]){ 7, 7 }, 2);
	histogram_of(q, 0, &h);
	ck_assert_uint_eq(h.n, 1);
	ck_assert_uint_eq(h.count[0], 2);
	quantity_free(q);
}

SUITE("series")
