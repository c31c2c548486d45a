/* SPDX-License-Identifier: Apache-2.0 */
/* Partial aggregates against the direct computation, for random values, splits and orders. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/graph/values.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void shuffle(struct values *w, struct rng *r)
{
	for (size_t i = w->n; i > 1; i--) {
		size_t k = rng_below(r, i);
		double v = w->v[i - 1], e = w->error[i - 1];

		w->v[i - 1] = w->v[k];
		w->error[i - 1] = w->error[k];
		w->v[k] = v;
		w->error[k] = e;
	}
}

static double direct_sum(const struct values *w)
{
	__float128 s = 0;

	for (size_t i = 0; i < w->n; i++)
		s += (__float128)w->v[i];
	return (double)s;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

TEST(sums_and_means_are_those_of_all_values)
{
	static struct values w;
	struct rng r;
	struct bag b;
	double error;

	rng_init(&r, suite_seed(1));
	for (int round = 0; round < 2000; round++) {
		some_values(&w, &r, (unsigned)round % 5);
		values_fold(&b, &w, AGG_SUM, &r);
		near(agg_value(&b.a, 0, &error), direct_sum(&w),
		     2 * DBL_EPSILON * fabs(direct_sum(&w)) + 1e-28 * values_size(&w));
		values_fold(&b, &w, AGG_MEAN, &r);
		if (w.n)
			near(agg_value(&b.a, 0, &error), direct_sum(&w) / (double)w.n,
			     4 * DBL_EPSILON * fabs(direct_sum(&w) / (double)w.n) +
				     1e-28 * values_size(&w));
		else
			ck_assert(isnan(agg_value(&b.a, 0, &error)));
	}
}

TEST(extremes_counts_and_uniques_are_exact_in_any_order)
{
	static struct values w;
	struct rng r;
	struct bag b;
	double error, min, max;

	rng_init(&r, suite_seed(3));
	for (int round = 0; round < 2000; round++) {
		some_values(&w, &r, (unsigned)round % 5);
		min = INFINITY;
		max = -INFINITY;
		for (size_t i = 0; i < w.n; i++) {
			min = fmin(min, w.v[i]);
			max = fmax(max, w.v[i]);
		}
		values_fold(&b, &w, AGG_COUNT, &r);
		ck_assert(agg_value(&b.a, 0, &error) == (double)w.n && error == 0);
		if (!w.n)
			min = max = NAN;
		values_fold(&b, &w, AGG_MIN, &r);
		near(agg_value(&b.a, 0, &error), min, 0);
		values_fold(&b, &w, AGG_MAX, &r);
		near(agg_value(&b.a, 0, &error), max, 0);
		values_fold(&b, &w, AGG_UNIQUE, &r);
		near(agg_value(&b.a, 0, &error), min, 0);
		ck_assert(!w.n || isinf(max) || isinf(min) ||
			  min + error >= max - 1e-9 * (fabs(min) + fabs(max)));
	}
}

/* As logarithms, so that the check does not overflow where the product does. */
TEST(a_product_is_that_of_all_values)
{
	static struct values w;
	struct rng r;
	struct bag b;
	double error;

	rng_init(&r, suite_seed(4));
	for (int round = 0; round < 2000; round++) {
		int64_t exp = 0;
		double mant = 1, got;
		int shift;

		some_values(&w, &r, (unsigned)round % 4);
		for (size_t i = 0; i < w.n; i++) {
			mant = frexp(mant * w.v[i], &shift);
			exp += mant == 0 ? 0 : shift;
		}
		values_fold(&b, &w, AGG_PROD, &r);
		got = agg_value(&b.a, 0, &error);
		exp = exp > 3000 ? 3000 : exp < -3000 ? -3000 : exp;
		near(got, ldexp(mant, (int)exp), 1e-12 * fabs(got) + DBL_TRUE_MIN);
	}
}

TEST(a_quantile_is_within_its_bound_of_the_exact_one)
{
	static struct values w;
	static const double qs[] = { 0, 0.01, 0.5, 0.9, 0.99, 1 };
	struct rng r;
	struct bag b;

	rng_init(&r, suite_seed(5));
	for (int round = 0; round < 1500; round++) {
		some_values(&w, &r, (unsigned)round % 5);
		memset(w.error, 0, sizeof(w.error));
		values_fold(&b, &w, AGG_QUANTILE, &r);
		qsort(w.v, w.n, sizeof(w.v[0]), by_value);
		for (size_t i = 0; i < ARRAY_LEN(qs); i++) {
			double error, got = agg_value(&b.a, qs[i], &error), want;

			if (!w.n) {
				ck_assert(isnan(got));
				continue;
			}
			want = w.v[(size_t)floor(qs[i] * (double)(w.n - 1) + 0.5)];
			near(got, want, error);
			if (b.sketch.level == 0 && isfinite(want))
				ck_assert_double_le(error, fabs(want) / 64);
		}
	}
}

static bool same_sketch(const struct sketch *a, const struct sketch *b)
{
	return a->zeros == b->zeros && a->level == b->level && a->n == b->n &&
	       !memcmp(a->key, b->key, a->n * sizeof(a->key[0])) &&
	       !memcmp(a->count, b->count, a->n * sizeof(a->count[0]));
}

TEST(a_sketch_depends_on_its_values_alone)
{
	static struct values w;
	static struct bag whole, merged;
	struct rng r;
	uint32_t levels = 0;

	rng_init(&r, suite_seed(6));
	for (int round = 0; round < 1000; round++) {
		w.n = VALUES_MAX;
		for (size_t i = 0; i < w.n; i++)
			w.v[i] = ldexp(rng_double(&r) - 0.5,
				       (int)rng_below(&r, 1 + (uint64_t)round * 2) - round);
		bag_init(&whole, AGG_HISTOGRAM);
		for (size_t i = 0; i < w.n; i++)
			agg_add(&whole.a, w.v[i], 0);
		shuffle(&w, &r);
		values_fold(&merged, &w, AGG_HISTOGRAM, &r);
		ck_assert(same_sketch(&whole.sketch, &merged.sketch));
		ck_assert(sketch_is_sane(&whole.sketch));
		levels |= 1u << whole.sketch.level;
	}
	ck_assert_uint_ge(levels, 1u << 4); /* some were coarsened, more than once */
}

TEST(buckets_come_by_rising_value_and_hold_everything)
{
	static const double v[] = { -DBL_MAX, -3,      -1, -DBL_MIN, -1e-310, 0, -0.0,
				    1e-310,   DBL_MIN, 1,  1,	     1.001,   3, DBL_MAX };
	static struct sketch s;
	struct sketch_bucket b;
	double last = -INFINITY;
	uint64_t all = 0;

	sketch_init(&s);
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		sketch_add(&s, v[i]);
	for (uint32_t i = 0; sketch_next(&s, &i, &b); all += b.count) {
		ck_assert(b.from <= b.to && b.from >= last && b.count > 0);
		last = b.to;
	}
	ck_assert_uint_eq(all, ARRAY_LEN(v));
	ck_assert_uint_eq(sketch_total(&s), ARRAY_LEN(v));
	ck_assert_uint_eq(s.zeros, 4);
}

TEST(nothing_at_all_has_no_mean_but_a_sum)
{
	static const struct {
		enum agg_kind kind;
		double value;
	} empty[] = {
		{ AGG_COUNT, 0 },      { AGG_SUM, 0 },	      { AGG_PROD, 1 },
		{ AGG_HISTOGRAM, 0 },  { AGG_MIN, NAN },      { AGG_MAX, NAN },
		{ AGG_MEAN, NAN },     { AGG_STDEV, NAN },    { AGG_UNIQUE, NAN },
		{ AGG_QUANTILE, NAN }, { AGG_VARIANCE, NAN }, { AGG_SKEWNESS, NAN },
		{ AGG_KURTOSIS, NAN }, { AGG_CI, NAN },
	};
	struct bag a, b;
	double error;

	for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
		bag_init(&a, empty[i].kind);
		bag_init(&b, empty[i].kind);
		agg_add(&a.a, NAN, 1);
		agg_merge(&a.a, &b.a);
		near(agg_value(&a.a, 0.5, &error), empty[i].value, 0);
		ck_assert(error == 0);
		agg_add(&b.a, 3, 0);
		agg_merge(&a.a, &b.a);
		near(agg_value(&a.a, 0.5, &error), agg_value(&b.a, 0.5, &error), 0);
	}
}

TEST(infinities_decide_and_do_not_fight_half_way)
{
	struct bag a;
	double error;

	bag_init(&a, AGG_SUM);
	agg_add(&a.a, INFINITY, 0);
	agg_add(&a.a, 5, 0);
	ck_assert(agg_value(&a.a, 0, &error) == INFINITY);
	agg_add(&a.a, -INFINITY, 0);
	ck_assert(isnan(agg_value(&a.a, 0, &error)));
	bag_init(&a, AGG_PROD);
	agg_add(&a.a, -INFINITY, 0);
	agg_add(&a.a, -2, 0);
	ck_assert(agg_value(&a.a, 0, &error) == INFINITY);
	agg_add(&a.a, 0, 0);
	ck_assert(isnan(agg_value(&a.a, 0, &error)));
	bag_init(&a, AGG_SUM);
	agg_add(&a.a, DBL_MAX, 0);
	agg_add(&a.a, DBL_MAX, 0);
	ck_assert(agg_value(&a.a, 0, &error) == INFINITY);
	ck_assert(agg_is_sane(&a.a));
}

/* Each value moved within its bound: the answer moves within its own. */
TEST(the_bound_of_an_answer_holds_for_all_values_within_theirs)
{
	static const enum agg_kind kinds[] = { AGG_SUM,	     AGG_MIN,	   AGG_MAX,
					       AGG_PROD,     AGG_MEAN,	   AGG_STDEV,
					       AGG_QUANTILE, AGG_VARIANCE, AGG_SKEWNESS,
					       AGG_KURTOSIS, AGG_CI };
	static struct values w, moved;
	struct rng r;
	struct bag a, b;

	rng_init(&r, suite_seed(7));
	for (int round = 0; round < 3000; round++) {
		enum agg_kind kind = kinds[(size_t)round % ARRAY_LEN(kinds)];
		double error, ignored, width, was, is;

		w.n = 1 + rng_below(&r, 20);
		for (size_t i = 0; i < w.n; i++) {
			w.v[i] = 4 * rng_double(&r) - 2;
			w.error[i] = rng_double(&r) / 4;
		}
		moved = w;
		for (size_t i = 0; i < w.n; i++)
			moved.v[i] += (2 * rng_double(&r) - 1) * w.error[i];
		values_fold(&a, &w, kind, &r);
		values_fold(&b, &moved, kind, &r);
		was = agg_value(&a.a, 0.5, &error);
		is = agg_value(&b.a, 0.5, &ignored);
		width = kind == AGG_QUANTILE ? fabs(is) / 64 : 0;
		near(is, was, error * (1 + 1e-12) + 1e-12 + width);
	}
}

TEST(a_partial_that_no_values_can_make_is_not_sane)
{
	struct bag b;

	bag_init(&b, AGG_MAX);
	ck_assert(agg_is_sane(&b.a));
	b.a.range.max = NAN;
	b.a.n = 1;
	ck_assert(!agg_is_sane(&b.a));
	bag_init(&b, AGG_PROD);
	b.a.product.value.mant = 2;
	ck_assert(!agg_is_sane(&b.a));
	bag_init(&b, AGG_SUM);
	b.a.error = NAN;
	ck_assert(!agg_is_sane(&b.a));
	bag_init(&b, AGG_QUANTILE);
	agg_add(&b.a, 1, 0);
	agg_add(&b.a, 2, 0);
	ck_assert(agg_is_sane(&b.a));
	b.sketch.key[1] = b.sketch.key[0];
	ck_assert(!agg_is_sane(&b.a));
	bag_init(&b, AGG_QUANTILE);
	agg_add(&b.a, 1, 0);
	b.sketch.count[0] = UINT64_MAX;
	ck_assert(!agg_is_sane(&b.a));
	b.sketch.n = SKETCH_BUCKETS + 1;
	ck_assert(!agg_is_sane(&b.a));
}

SUITE("agg")
