/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates of powers (deviation, variance, skewness, kurtosis, interval), merged in any way,
 * against the definitions. */
#include "common/base/array.h"
#include "stats/interval.h"
#include "stats/student.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/graph/values.h"

#include <math.h>

#define LEVEL 0.95

static const enum agg_kind kinds[] = { AGG_STDEV, AGG_VARIANCE, AGG_SKEWNESS, AGG_KURTOSIS,
				       AGG_CI };

/* The sum of the k-th powers of the distances to the mean, with more digits. */
static __float128 direct_power(const struct values *w, int k)
{
	__float128 mean = 0, sum = 0;

	for (size_t i = 0; i < w->n; i++)
		mean += (__float128)w->v[i] / (__float128)(double)w->n;
	for (size_t i = 0; i < w->n; i++) {
		__float128 d = (__float128)w->v[i] - mean, p = d;

		for (int j = 1; j < k; j++)
			p *= d;
		sum += p;
	}
	return sum;
}

static double direct_stdev(const struct values *w)
{
	return sqrt((double)(direct_power(w, 2) / (__float128)(double)w->n));
}

/* By the definitions in docs/stats.md. */
static double direct(const struct values *w, enum agg_kind kind)
{
	double n = (double)w->n, variance = (double)(direct_power(w, 2) / (__float128)(n - 1));

	switch (kind) {
	case AGG_STDEV:
		return direct_stdev(w);
	case AGG_VARIANCE:
		return variance;
	case AGG_SKEWNESS:
		return (double)(direct_power(w, 3) / (__float128)n) / pow(variance, 1.5);
	case AGG_KURTOSIS:
		return (double)(direct_power(w, 4) / (__float128)n) / (variance * variance) - 3;
	default:
		return student_two_sided(LEVEL, n - 1) * sqrt(variance / n);
	}
}

TEST(a_standard_deviation_is_that_of_all_values)
{
	static struct values w;
	struct rng r;
	struct bag b;
	double error;

	rng_init(&r, suite_seed(2));
	for (int round = 0; round < 2000; round++) {
		some_values(&w, &r, (unsigned)round % 4);
		values_fold(&b, &w, AGG_STDEV, &r);
		if (!w.n)
			ck_assert(isnan(agg_value(&b.a, 0, &error)));
		else
			near(agg_value(&b.a, 0, &error), direct_stdev(&w),
			     1e-9 * direct_stdev(&w) + 1e-15 * values_size(&w));
	}
	some_values(&w, &r, 4);
	w.v[0] = INFINITY;
	w.n += !w.n;
	values_fold(&b, &w, AGG_STDEV, &r);
	ck_assert(isnan(agg_value(&b.a, 0, &error)));
}

TEST(a_small_spread_about_a_large_mean_survives_the_merge)
{
	double low = 1e9 - 1e-3, high = 1e9 + 1e-3, error;
	struct agg all;

	agg_init(&all, AGG_STDEV, NULL);
	for (int host = 0; host < 8; host++) {
		struct agg a;

		agg_init(&a, AGG_STDEV, NULL);
		for (int i = 0; i < 125000; i++)
			agg_add(&a, (i ^ host) & 1 ? high : low, 0);
		near(agg_value(&a, 0, &error), (high - low) / 2, 1e-11 * (high - low));
		values_send(&a);
		agg_merge(&all, &a);
	}
	near(agg_value(&all, 0, &error), (high - low) / 2, 1e-11 * (high - low));
	/*
	 * Hosts that differ by less than the last digits of their values are not taken as equal.
	 */
	for (int host = 0; host < 2; host++) {
		struct agg a;

		agg_init(&a, AGG_STDEV, NULL);
		for (int i = 0; i < 1000; i++)
			agg_add(&a, i < (host ? 400 : 600) ? high : low, 0);
		values_send(&a);
		if (host)
			agg_merge(&all, &a);
		else
			all = a;
	}
	near(agg_value(&all, 0, &error), (high - low) / 2, 1e-11 * (high - low));
}

TEST(merged_in_any_way_they_are_what_their_definitions_say)
{
	static struct values w;
	struct rng r;
	struct bag b;
	double error, want;

	rng_init(&r, suite_seed(8));
	for (int round = 0; round < 600; round++) {
		enum agg_kind kind = kinds[(size_t)round % ARRAY_LEN(kinds)];

		some_values(&w, &r, (unsigned)round % 4);
		w.n = w.n < 3 ? 3 : w.n;
		if (direct_power(&w, 2) == 0)
			continue;
		values_fold(&b, &w, kind, &r);
		want = direct(&w, kind);
		near(agg_value(&b.a, LEVEL, &error), want,
		     1e-11 * fabs(want) + (kind == AGG_SKEWNESS ? 1e-11 : 0));
	}
}

/* One implementation: no digit is lost on the way to an aggregate, or through a link. */
TEST(moments_are_as_exact_as_those_of_a_quantity)
{
	static struct values w;
	struct rng r;
	double error;

	rng_init(&r, suite_seed(9));
	for (unsigned round = 0; round < 200; round++) {
		struct agg a[ARRAY_LEN(kinds)];
		struct moments m = { 0 };

		some_values(&w, &r, round % 4);
		w.n += w.n < 2 ? 2 : 0;
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			agg_init(&a[k], kinds[k], NULL);
		for (size_t i = 0; i < w.n; i++) {
			moments_add(&m, w.v[i]);
			for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
				agg_add(&a[k], w.v[i], 0);
		}
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			values_send(&a[k]);
		near(agg_value(&a[1], 0, &error), moments_variance(&m), 0);
		near(agg_value(&a[2], 0, &error), moments_skewness(&m), 0);
		near(agg_value(&a[3], 0, &error), moments_kurtosis(&m), 0);
		near(agg_value(&a[4], LEVEL, &error), interval_of_mean(&m, LEVEL).half, 0);
		ck_assert(error == 0);
	}
}

TEST(skewness_and_kurtosis_without_spread_are_nan)
{
	struct agg a;
	double error;

	for (size_t k = 1; k < ARRAY_LEN(kinds); k++) {
		agg_init(&a, kinds[k], NULL);
		agg_add(&a, 1e200, 0); /* its square is none */
		ck_assert(isnan(agg_value(&a, LEVEL, &error)));
		agg_add(&a, 1e200, 0);
		near(agg_value(&a, LEVEL, &error),
		     kinds[k] == AGG_SKEWNESS || kinds[k] == AGG_KURTOSIS ? NAN : 0, 0);
		agg_add(&a, INFINITY, 0);
		ck_assert(isnan(agg_value(&a, LEVEL, &error)));
	}
}

TEST(a_bound_that_covers_the_spread_leaves_the_shape_unknown)
{
	struct agg a;
	double error;

	agg_init(&a, AGG_SKEWNESS, NULL);
	for (int i = 0; i < 10; i++)
		agg_add(&a, i * i, 100);
	ck_assert(isfinite(agg_value(&a, 0, &error)) && error == INFINITY);
}

TEST(powers_that_no_values_have_are_not_sane)
{
	struct agg a;

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		agg_init(&a, kinds[k], NULL);
		agg_add(&a, 1, 0);
		agg_add(&a, 2, 0);
		ck_assert(agg_is_sane(&a));
		a.powers.m2.hi = -1;
		ck_assert(!agg_is_sane(&a));
		a.powers.m2.hi = 1;
		a.powers.m4.lo = NAN;
		ck_assert(!agg_is_sane(&a));
	}
}

SUITE("powers")
