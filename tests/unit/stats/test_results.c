/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities as handlers of others use them: stats/stats.h. */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/file.h"
#include "stats/quantity.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct quantity *with(enum quantity_kind kind, const double *v, size_t n)
{
	struct quantity *q = NULL;

	ck_assert_int_eq(
		quantity_open(&(struct quantity_options){ .name = "q", .kind = kind }, &q, NULL),
		0);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(quantity_add(q, v[i]), 0);
	return q;
}

static const double four[] = { 1, 2, 3, 10 };

TEST(statistics_are_those_of_the_values)
{
	struct quantity *q = with(QUANTITY_STATISTICS, four, 4);

	ck_assert_uint_eq(quantity_count(q), 4);
	ck_assert_double_eq(quantity_mean(q), 4);
	ck_assert_double_eq_tol(quantity_variance(q), 50.0 / 3, 1e-12);
	ck_assert_double_eq_tol(quantity_deviation(q), sqrt(50.0 / 3), 1e-12);
	ck_assert(quantity_min(q) == 1 && quantity_max(q) == 10);
	ck_assert_double_gt(quantity_skewness(q), 0);
	ck_assert(isfinite(quantity_kurtosis(q)));
	/* t(3) at 95 % is 3.182446. */
	ck_assert_double_eq_tol(quantity_half(q, 0.95), 3.182446 * sqrt(50.0 / 12), 1e-4);
	quantity_clear(q);
	ck_assert_uint_eq(quantity_count(q), 0);
	ck_assert(isnan(quantity_mean(q)) && isnan(quantity_min(q)) && isnan(quantity_max(q)));
	quantity_free(q);
}

TEST(pairs_need_values_of_one_length)
{
	static const double twice[] = { 2, 4, 6, 20 };
	struct quantity *x = with(QUANTITY_VALUES, four, 4), *y = with(QUANTITY_VALUES, twice, 4),
			*z = with(QUANTITY_VALUES, twice, 3),
			*no = with(QUANTITY_STATISTICS, four, 4);

	ck_assert_double_eq_tol(quantity_covariance(x, y), 100.0 / 3, 1e-12);
	ck_assert_double_eq_tol(quantity_correlation(x, y), 1, 1e-12);
	ck_assert(isnan(quantity_covariance(x, z)) && isnan(quantity_correlation(x, no)));
	quantity_free(x);
	quantity_free(y);
	quantity_free(z);
	quantity_free(no);
}

TEST(the_last_stop_condition_counts)
{
	struct quantity *q = with(QUANTITY_STATISTICS, four, 4);

	ck_assert(!quantity_is_done(q));
	quantity_stop_after(q, 5);
	ck_assert(!quantity_is_done(q));
	quantity_add(q, 4);
	ck_assert(quantity_is_done(q));
	ck_assert_int_eq(quantity_stop_on_interval(q, 0.95, 0.05, NULL), 0);
	ck_assert(!quantity_is_done(q));
	ck_assert_int_eq(quantity_stop_on(q, "n >= 3", NULL), 0);
	ck_assert(quantity_is_done(q));
	ck_assert_int_eq(quantity_stop_on(q, "n > many", NULL), -ERR_PARSE);
	ck_assert_int_eq(quantity_stop_on_interval(q, 2, 0.05, NULL), -ERR_INVALID);
	ck_assert(quantity_is_done(q));
	quantity_free(q);
}

TEST(an_export_has_the_statistics_and_replaces_the_file)
{
	char dir[] = "/tmp/omig-results-XXXXXX", path[64];
	struct quantity *q = with(QUANTITY_STATISTICS, four, 4);
	struct buf b = BUF_INIT(10000);
	struct err e = { 0 };

	ck_assert(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/q.txt", dir);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(quantity_export(q, path, &e), 0);
	ck_assert_int_eq(file_read(path, 10000, 0, &b, &e), 0);
	ck_assert(strstr(buf_str(&b), "q: 4 values") && strstr(buf_str(&b), "mean") &&
		  strstr(buf_str(&b), "median"));
	unlink(path);
	rmdir(dir);
	ck_assert_int_lt(quantity_export(q, path, &e), 0);
	ck_assert(strstr(e.text, path));
	buf_done(&b);
	quantity_free(q);
}

SUITE("results")
