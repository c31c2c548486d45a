/* SPDX-License-Identifier: Apache-2.0 */
/* The three kinds of quantity: what each of them knows, keeps and leaves out. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "stats/quantity.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct quantity *made(const struct quantity_options *w)
{
	struct quantity *q = NULL;
	struct err e = { 0 };

	ck_assert_msg(!quantity_open(w, &q, &e), "%s", e.text);
	return q;
}

static struct quantity *of_kind(enum quantity_kind kind)
{
	struct quantity_options w = { .name = "delay", .unit = "s", .kind = kind };

	return made(&w);
}

TEST(statistics_are_the_same_whatever_is_kept)
{
	struct quantity *a = of_kind(QUANTITY_STATISTICS), *b = of_kind(QUANTITY_VALUES);
	double error, exact;
	size_t n;
	struct rng r;

	rng_init(&r, suite_seed(21));
	for (int i = 0; i < 10000; i++) {
		double v = exp(4 * rng_double(&r));

		ck_assert_int_eq(quantity_add(a, v), 0);
		ck_assert_int_eq(quantity_add(b, v), 0);
	}
	ck_assert_double_eq(moments_variance(quantity_moments(a)),
			    moments_variance(quantity_moments(b)));
	ck_assert_double_eq(quantity_interval(a, 0.95).half, quantity_interval(b, 0.95).half);
	ck_assert_double_eq(quantity_interval_of_batches(a, 0.95).half,
			    quantity_interval_of_batches(b, 0.95).half);
	for (int i = 0; i <= 20; i++) {
		exact = quantity_quantile(b, i / 20.0, &error);
		ck_assert_double_eq(error, 0);
		/*
		 * The sketch has the nearest of the values, within its bound; the exact one is
		 * between two of them.
		 */
		ck_assert(fabs(quantity_quantile(a, i / 20.0, &error) - exact) <=
			  error + exact / 500);
	}
	ck_assert_ptr_null(quantity_values(a, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_ptr_nonnull(quantity_values(b, &n));
	ck_assert_uint_eq(n, 10000);
	ck_assert_str_eq(quantity_unit(b), "s");
	quantity_free(a);
	quantity_free(b);
}

TEST(a_quantile_lies_between_its_neighbours)
{
	struct quantity *q = of_kind(QUANTITY_VALUES);
	static const double v[] = { 40, 10, 30, 20 };

	ck_assert(isnan(quantity_quantile(q, 0.5, NULL)));
	for (unsigned i = 0; i < 4; i++)
		quantity_add(q, v[i]);
	ck_assert_double_eq(quantity_quantile(q, 0, NULL), 10);
	ck_assert_double_eq(quantity_quantile(q, 0.5, NULL), 25);
	ck_assert_double_eq_tol(quantity_quantile(q, 0.1, NULL), 13, 1e-12);
	ck_assert_double_eq(quantity_quantile(q, 1, NULL), 40);
	ck_assert(isnan(quantity_quantile(q, 1.1, NULL)));
	quantity_add(q, 50);
	ck_assert_double_eq(quantity_quantile(q, 0.5, NULL), 30);
	quantity_free(q);
}

TEST(the_first_values_and_the_early_ones_are_dropped)
{
	struct quantity_options w = { .name = "x", .drop_count = 3 };
	struct quantity *q = made(&w);

	for (int i = 0; i < 10; i++)
		quantity_add(q, i);
	ck_assert_uint_eq(quantity_moments(q)->n, 7);
	ck_assert_double_eq(quantity_moments(q)->first, 3);
	ck_assert_uint_eq(quantity_dropped(q), 3);
	quantity_free(q);
	w = (struct quantity_options){ .name = "x", .drop_before = 500, .kind = QUANTITY_VALUES };
	q = made(&w);
	for (int i = 0; i < 10; i++)
		quantity_add_at(q, i * 100, i);
	ck_assert_uint_eq(quantity_moments(q)->n, 5);
	ck_assert_uint_eq(quantity_dropped(q), 5);
	quantity_free(q);
}

TEST(an_invalid_number_is_counted_and_left_out)
{
	struct quantity *q = of_kind(QUANTITY_VALUES);

	ck_assert_int_eq(quantity_add(q, NAN), -ERR_INVALID);
	ck_assert_int_eq(quantity_add(q, -INFINITY), -ERR_INVALID);
	ck_assert_int_eq(quantity_add(q, 1), 0);
	ck_assert_uint_eq(quantity_not_finite(q), 2);
	ck_assert_uint_eq(quantity_moments(q)->n, 1);
	quantity_free(q);
}

TEST(a_quantity_is_done_when_its_rule_holds)
{
	struct quantity_options w = {
		.name = "x",
		.stop = { .n = 1, .term[0] = { .kind = STOP_ON_COUNT, .count = 5 } },
	};
	struct quantity *q;

	q = made(&w);
	for (int i = 1; i <= 5; i++) {
		ck_assert(!quantity_is_done(q));
		quantity_add(q, i);
	}
	ck_assert(quantity_is_done(q));
	quantity_free(q);
}

static void in_folder(char *path, const char *name)
{
	static char folder[] = "/tmp/omig-test-XXXXXX";

	if (strstr(folder, "XXXXXX"))
		ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(file_join(path, FILE_PATH_BYTES, folder, name, NULL), 0);
}

static void check_file(const char *path, const char *wanted)
{
	struct buf b = BUF_INIT(1 << 16);
	char folder[FILE_PATH_BYTES];

	ck_assert_int_eq(file_read(path, 1 << 16, 0, &b, NULL), 0);
	ck_assert_str_eq(buf_str(&b), wanted);
	buf_done(&b);
	unlink(path);
	str_copy(folder, sizeof(folder), path);
	*strrchr(folder, '/') = 0;
	rmdir(folder);
}

TEST(each_value_is_a_line_of_the_file)
{
	char path[FILE_PATH_BYTES];
	struct quantity_options w = { .name = "x", .kind = QUANTITY_ON_FILE, .path = path };
	struct quantity *q, *other = NULL;
	struct err e = { 0 };

	in_folder(path, "values");
	q = made(&w);
	ck_assert_int_eq(quantity_open(&w, &other, &e), -ERR_EXISTS);
	quantity_add(q, 0.1);
	quantity_add(q, -1e300);
	ck_assert_int_eq(quantity_flush(q, &e), 0);
	check_file(path, "0.1\n-1e+300\n");
	quantity_free(q);
}

TEST(with_times_the_file_is_csv)
{
	char path[FILE_PATH_BYTES];
	struct quantity_options w = { .name = "x", .kind = QUANTITY_ON_FILE, .path = path };
	struct quantity *q;

	in_folder(path, "values.csv");
	q = made(&w);
	quantity_add_at(q, 5, 1.5);
	quantity_add_at(q, 7, 2.5);
	quantity_free(q);
	check_file(path, "time_ns,value\n5,1.5\n7,2.5\n");
}

TEST(a_file_that_cannot_be_made_is_reported)
{
	struct quantity_options w = { .name = "x",
				      .kind = QUANTITY_ON_FILE,
				      .path = "/dev/null/at/all" };
	struct quantity *q = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(quantity_open(&w, &q, &e), -ERR_SYS);
	ck_assert_ptr_null(q);
}

TEST(a_full_disk_is_reported)
{
	char path[FILE_PATH_BYTES];
	struct quantity_options w = { .name = "x", .kind = QUANTITY_ON_FILE, .path = path };
	struct rlimit full;
	struct quantity *q;
	struct err e = { 0 };

	in_folder(path, "values");
	q = made(&w);
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &full), 0);
	full.rlim_cur = 10;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &full), 0);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(quantity_add(q, 123), 0);
	ck_assert_int_eq(quantity_flush(q, &e), -ERR_SYS);
	ck_assert_uint_eq(quantity_moments(q)->n, 5);
	quantity_free(q);
	check_file(path, "123\n123\n12");
}

static void add_some(struct quantity *q, struct rng *r, struct quantity *whole)
{
	for (uint64_t n = rng_below(r, 300); n; n--) {
		double v = rng_double(r);

		quantity_add(q, v);
		quantity_add(whole, v);
	}
}

TEST(parts_that_are_merged_are_the_whole)
{
	struct rng r;

	rng_init(&r, suite_seed(22));
	for (int round = 0; round < 60; round++) {
		enum quantity_kind kind = round % 2 ? QUANTITY_VALUES : QUANTITY_STATISTICS;
		struct quantity *sum = of_kind(kind), *whole = of_kind(kind);

		for (int i = 0; i < 6; i++) {
			struct quantity *part = of_kind(kind);

			add_some(part, &r, whole);
			ck_assert_int_eq(quantity_merge(sum, part, NULL), 0);
			quantity_free(part);
		}
		ck_assert_uint_eq(quantity_moments(sum)->n, quantity_moments(whole)->n);
		ck_assert_double_eq_tol(moments_variance(quantity_moments(sum)),
					moments_variance(quantity_moments(whole)), 1e-14);
		ck_assert_double_eq(quantity_quantile(sum, 0.3, NULL),
				    quantity_quantile(whole, 0.3, NULL));
		quantity_free(sum);
		quantity_free(whole);
	}
}

/* For all sizes: at most BATCHES_MAX - 1, of a power of two, and their mean is near that of all. */
TEST(merged_batches_are_batches)
{
	struct rng r;

	rng_init(&r, suite_seed(23));
	for (int round = 0; round < 300; round++) {
		struct batches sum = { 0 };
		struct moments m;

		for (uint64_t parts = 1 + rng_below(&r, 10); parts; parts--) {
			struct batches b = { 0 };

			for (uint64_t n = rng_below(&r, UINT64_C(1) << rng_below(&r, 12)); n; n--)
				batches_add(&b, 1e6 + rng_double(&r));
			batches_merge(&sum, &b);
			ck_assert_uint_lt(sum.n, BATCHES_MAX);
		}
		for (int i = 0; i < 100; i++)
			batches_add(&sum, 1e6 + rng_double(&r));
		ck_assert_uint_eq(sum.size & (sum.size - 1), 0);
		batches_moments(&sum, &m);
		ck_assert(m.min >= 1e6 && m.max <= 1e6 + 1 && m.n < BATCHES_MAX);
	}
}

TEST(statistics_cannot_become_values)
{
	struct quantity *statistics = of_kind(QUANTITY_STATISTICS),
			*values = of_kind(QUANTITY_VALUES);

	quantity_add(statistics, 1);
	quantity_add(values, 2);
	ck_assert_int_eq(quantity_merge(values, statistics, NULL), -ERR_INVALID);
	ck_assert_int_eq(quantity_merge(statistics, values, NULL), 0);
	ck_assert_double_eq(moments_mean(quantity_moments(statistics)), 1.5);
	quantity_free(statistics);
	quantity_free(values);
}

static int add_a_few(void)
{
	struct quantity_options w = { .name = "x", .kind = QUANTITY_VALUES };
	struct quantity *q = NULL;
	int rc = quantity_open(&w, &q, NULL);

	for (int i = 0; i < 20 && !rc; i++)
		rc = quantity_add_at(q, i, i);
	if (!rc && isnan(quantity_quantile(q, 0.5, NULL)))
		rc = -ERR_NOMEM;
	quantity_free(q);
	return rc;
}

TEST(without_memory_it_reports_that)
{
	int rc = -1;

	ALLOC_SWEEP (k) {
		rc = add_a_few();
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
	}
	ck_assert_int_eq(rc, 0);
}

SUITE("quantity")
