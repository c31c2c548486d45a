/* SPDX-License-Identifier: Apache-2.0 */
/* Moments against certified values, exact sums and each other. */
#include "common/base/rng.h"
#include "stats/moments.h"
#include "tests/suite.h"
#include "tests/unit/stats/strd.h"

#include <math.h>

static double relative(double v, double truth)
{
	return truth == 0 ? fabs(v) : fabs(v / truth - 1);
}

static double digits(double off)
{
	return off <= 1e-15 ? 15 : -log10(off);
}

static void add_all(struct moments *m, const double *v, size_t n)
{
	*m = (struct moments){ 0 };
	for (size_t i = 0; i < n; i++)
		ck_assert(moments_add(m, v[i]));
}

TEST(results_agree_with_nist)
{
	static struct strd s;
	struct moments m;

	for (unsigned i = 0; i < STRD_SETS; i++) {
		double mean, deviation, serial;

		strd_get(i, &s);
		add_all(&m, s.value, s.n);
		mean = relative(moments_mean(&m), s.mean);
		deviation = relative(moments_deviation(&m), s.deviation);
		serial = relative(moments_serial(&m), s.serial);
		printf("# %-8s digits: mean %.1f deviation %.1f serial %.1f\n", s.name,
		       digits(mean), digits(deviation), digits(serial));
		ck_assert_msg(mean < 1e-13, "%s: mean %.17g", s.name, moments_mean(&m));
		ck_assert_msg(deviation < 1e-13 + s.deviation_off, "%s: deviation %.17g", s.name,
			      moments_deviation(&m));
		ck_assert_msg(serial < 1e-13 + s.serial_off, "%s: serial %.17g", s.name,
			      moments_serial(&m));
	}
}

/* Computes the exact results for the nearest doubles: two passes, with more digits. */
static void exactly(const struct strd *s, long double *deviation, long double *serial)
{
	long double mean = 0, square = 0, product = 0;

	for (size_t i = 0; i < s->n; i++)
		mean += (long double)s->value[i] - (long double)s->value[0];
	mean /= (long double)s->n;
	for (size_t i = 0; i < s->n; i++) {
		long double d = (long double)s->value[i] - (long double)s->value[0] - mean;

		square += d * d;
		if (i)
			product += d *
				   ((long double)s->value[i - 1] - (long double)s->value[0] - mean);
	}
	*deviation = sqrtl(square / (long double)(s->n - 1));
	*serial = product / square;
}

TEST(where_doubles_are_not_the_values_the_doubles_are_right)
{
	static struct strd s;
	struct moments m;

	for (unsigned i = 0; i < STRD_SETS; i++) {
		long double deviation, serial;

		strd_get(i, &s);
		exactly(&s, &deviation, &serial);
		add_all(&m, s.value, s.n);
		ck_assert_msg(relative(moments_deviation(&m), (double)deviation) < 1e-14, "%s",
			      s.name);
		ck_assert_msg(relative(moments_serial(&m), (double)serial) < 1e-13, "%s", s.name);
	}
}

/* 10^9 + j / 2^23, |j| <= 8388: doubles of 10^9 +- 10^-3. Whole numbers show the truth. */
#define FAR_MEAN 1e9
#define FAR_SPREAD 8388
#define FAR_UNIT 0x1p-23

struct far {
	struct moments m;
	int64_t sum, squares;
	double plain_sum, plain_squares;
};

static void add_far(struct far *f, uint64_t n, struct rng *r)
{
	for (uint64_t i = 0; i < n; i++) {
		int64_t j = (int64_t)rng_below(r, 2 * FAR_SPREAD + 1) - FAR_SPREAD;
		double v = FAR_MEAN + (double)j * FAR_UNIT;

		moments_add(&f->m, v);
		f->sum += j;
		f->squares += j * j;
		f->plain_sum += v;
		f->plain_squares += v * v;
	}
}

static double far_variance(const struct far *f)
{
	long double n = (long double)f->m.n, sum = (long double)f->sum;

	return (double)(((long double)f->squares - sum * sum / n) / (n - 1)) * FAR_UNIT * FAR_UNIT;
}

/* OMIG_STATS_FAR=1000000000: a minute. */
TEST(a_small_spread_around_a_large_mean_keeps_its_digits)
{
	const char *wish = getenv("OMIG_STATS_FAR");
	uint64_t n = wish ? strtoull(wish, NULL, 0) : 200000;
	static struct far f;
	struct rng r;
	double plain, mean;

	rng_init(&r, 11);
	add_far(&f, n, &r);
	mean = (double)f.sum / (double)n * FAR_UNIT;
	plain = (f.plain_squares - f.plain_sum * f.plain_sum / (double)n) / (double)(n - 1);
	printf("# %llu values: variance off by %.2g, by sums of squares by %.2g; mean by %.2g\n",
	       (unsigned long long)n, relative(moments_variance(&f.m), far_variance(&f)),
	       relative(plain, far_variance(&f)), (moments_mean(&f.m) - FAR_MEAN) - mean);
	ck_assert(relative(moments_variance(&f.m), far_variance(&f)) < 1e-12);
	/* The mean is exact to the last digit of a double. */
	ck_assert(fabs((moments_mean(&f.m) - FAR_MEAN) - mean) <= FAR_UNIT / 2);
	/* The usual sums lose the spread. */
	ck_assert(relative(plain, far_variance(&f)) > 1);
}

/* By definition, in two passes. */
static long double central(const double *v, size_t n, int power)
{
	long double mean = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += v[i];
	mean /= (long double)n;
	for (size_t i = 0; i < n; i++)
		sum += powl(v[i] - mean, power);
	return sum / (long double)n;
}

static void check_shape(const struct moments *m, const double *v, size_t n)
{
	double s = sqrt((double)central(v, n, 2) * (double)n / (double)(n - 1));

	ck_assert(relative(moments_deviation(m), s) < 1e-13);
	ck_assert(fabs(moments_skewness(m) - (double)central(v, n, 3) / (s * s * s)) < 1e-12);
	ck_assert(fabs(moments_kurtosis(m) - ((double)central(v, n, 4) / (s * s * s * s) - 3)) <
		  1e-11);
}

TEST(skewness_and_kurtosis_follow_their_definitions)
{
	static double v[5000];
	struct moments m;
	struct rng r;

	rng_init(&r, suite_seed(12));
	for (int family = 0; family < 3; family++) {
		for (size_t i = 0; i < 5000; i++)
			v[i] = family == 0   ? -log(1 - rng_double(&r))
			       : family == 1 ? rng_double(&r) - 100
					     : exp(rng_double(&r) * 6);
		for (size_t n = 2; n <= 5000; n = n * 3 / 2 + 1) {
			add_all(&m, v, n);
			check_shape(&m, v, n);
		}
	}
}

static void check_same(const struct moments *a, const struct moments *b)
{
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_double_eq(a->min, b->min);
	ck_assert_double_eq(a->max, b->max);
	if (!a->n)
		return;
	ck_assert(relative(moments_mean(a), moments_mean(b)) < 1e-13);
	if (a->n < 3)
		return;
	ck_assert(relative(moments_variance(a), moments_variance(b)) < 1e-12);
	ck_assert(fabs(moments_skewness(a) - moments_skewness(b)) < 1e-11);
	ck_assert(fabs(moments_kurtosis(a) - moments_kurtosis(b)) < 1e-10);
	ck_assert(fabs(moments_serial(a) - moments_serial(b)) < 1e-12);
}

TEST(parts_that_are_merged_are_the_whole)
{
	struct rng r;

	rng_init(&r, suite_seed(13));
	for (int round = 0; round < 200; round++) {
		struct moments whole = { 0 }, merged = { 0 };
		double offset = round % 2 ? 1e6 : 0;

		for (uint64_t parts = rng_below(&r, 8); parts; parts--) {
			struct moments part = { 0 };

			for (uint64_t n = rng_below(&r, 50); n; n--) {
				double v = offset + exp(rng_double(&r) * 3);

				moments_add(&part, v);
				moments_add(&whole, v);
			}
			moments_merge(&merged, &part);
		}
		check_same(&merged, &whole);
	}
}

TEST(moments_continue_from_known_sums)
{
	static const double v[] = { 3, -7.5, 1e6, 12, 12, 0.25 };
	struct moments all = { 0 }, first = { 0 }, m;

	for (size_t i = 0; i < 6; i++) {
		moments_add(&all, v[i]);
		if (i < 3)
			moments_add(&first, v[i]);
	}
	m = moments_known(first.n, moments_mean(&first), moments_squares(&first), first.min,
			  first.max);
	ck_assert_double_eq(moments_variance(&m), moments_variance(&first));
	for (size_t i = 3; i < 6; i++)
		moments_add(&m, v[i]);
	ck_assert_uint_eq(m.n, 6);
	ck_assert_double_eq_tol(moments_mean(&m), moments_mean(&all), 1e-9);
	ck_assert_double_eq_tol(moments_squares(&m) / moments_squares(&all), 1, 1e-12);
	ck_assert_double_eq(m.min, -7.5);
	ck_assert_double_eq(m.max, 1e6);
	m = moments_known(0, 0, 0, NAN, NAN);
	moments_add(&m, 5);
	ck_assert_double_eq(m.min, 5);
	ck_assert_double_eq(m.max, 5);
}

TEST(undefined_moments_are_nan)
{
	struct moments m = { 0 };

	ck_assert(isnan(moments_mean(&m)));
	ck_assert(isnan(moments_variance(&m)));
	ck_assert(isnan(moments_serial(&m)));
	ck_assert(!moments_add(&m, NAN));
	ck_assert(!moments_add(&m, INFINITY));
	ck_assert_uint_eq(m.n, 0);
	ck_assert(moments_add(&m, 7));
	ck_assert_double_eq(moments_mean(&m), 7);
	ck_assert(isnan(moments_variance(&m)));
	ck_assert(moments_add(&m, 7));
	ck_assert_double_eq(moments_variance(&m), 0);
	ck_assert(isnan(moments_skewness(&m)));
	ck_assert(isnan(moments_kurtosis(&m)));
	ck_assert(isnan(moments_serial(&m)));
}

SUITE("moments")
