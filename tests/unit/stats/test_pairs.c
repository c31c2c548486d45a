/* SPDX-License-Identifier: Apache-2.0 */
/* Covariance and correlation of pairs, merged in any order, against their definitions. */
#include "common/base/rng.h"
#include "stats/interval.h"
#include "stats/pairs.h"
#include "tests/suite.h"

#include <math.h>

#define PAIRS_MAX 400
#define PARTS 7

struct sample {
	double x[PAIRS_MAX], y[PAIRS_MAX];
	uint64_t n;
};

/* Of some dependence, far from zero, and of different sizes. */
static void some_pairs(struct sample *s, struct rng *r)
{
	double offset = pow(10, (double)rng_below(r, 13)),
	       size = pow(10, (double)rng_below(r, 7) - 6);
	double together = 2 * rng_double(r) - 1;

	s->n = 2 + rng_below(r, PAIRS_MAX - 2);
	for (uint64_t i = 0; i < s->n; i++) {
		double common = rng_double(r);

		s->x[i] = offset + common;
		s->y[i] = size * (together * common + (1 - fabs(together)) * rng_double(r)) -
			  offset * size;
	}
}

static __float128 direct_product(const double *x, const double *y, uint64_t n)
{
	__float128 mx = 0, my = 0, sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		mx += (__float128)x[i] / (__float128)(double)n;
		my += (__float128)y[i] / (__float128)(double)n;
	}
	for (uint64_t i = 0; i < n; i++)
		sum += ((__float128)x[i] - mx) * ((__float128)y[i] - my);
	return sum;
}

/* Assigns each pair to a random part, and merges the parts from a random one on. */
static struct pairs merged(const struct sample *s, struct rng *r)
{
	struct pairs part[PARTS] = { 0 }, all = { 0 };
	uint64_t n[PARTS] = { 0 }, sum = 0, first = rng_below(r, PARTS);

	for (uint64_t i = 0; i < s->n; i++) {
		uint64_t k = rng_below(r, PARTS);

		pairs_add(&part[k], n[k]++, s->x[i], s->y[i]);
	}
	for (uint64_t i = 0; i < PARTS; i++) {
		uint64_t k = (first + i) % PARTS;

		pairs_merge(&all, sum, &part[k], n[k]);
		sum += n[k];
	}
	ck_assert_uint_eq(sum, s->n);
	return all;
}

TEST(merged_in_any_order_they_are_what_their_definitions_say)
{
	static struct sample s;
	struct rng r;

	rng_init(&r, suite_seed(31));
	for (int round = 0; round < 400; round++) {
		struct pairs p;
		double xx, yy, xy, scale;

		some_pairs(&s, &r);
		p = merged(&s, &r);
		xx = (double)direct_product(s.x, s.x, s.n);
		yy = (double)direct_product(s.y, s.y, s.n);
		xy = (double)direct_product(s.x, s.y, s.n);
		scale = sqrt(xx) * sqrt(yy);
		ck_assert_double_eq_tol(pairs_covariance(&p, s.n), xy / (double)(s.n - 1),
					1e-13 * scale / (double)(s.n - 1));
		if (scale > 0)
			ck_assert_double_eq_tol(pairs_correlation(&p, s.n), xy / scale, 1e-13);
		else
			ck_assert(isnan(pairs_correlation(&p, s.n)));
	}
}

TEST(covariance_of_a_value_with_itself_is_its_variance)
{
	struct pairs same = { 0 }, against = { 0 };
	struct moments m = { 0 };
	struct rng r;

	rng_init(&r, suite_seed(32));
	for (uint64_t i = 0; i < 1000; i++) {
		double v = 1e9 + 1e-3 * rng_double(&r);

		moments_add(&m, v);
		pairs_add(&same, i, v, v);
		pairs_add(&against, i, v, -v);
	}
	ck_assert_double_eq_tol(pairs_covariance(&same, 1000) / moments_variance(&m), 1, 1e-13);
	ck_assert_double_eq_tol(pairs_correlation(&same, 1000), 1, 1e-15);
	ck_assert_double_eq_tol(pairs_correlation(&against, 1000), -1, 1e-15);
}

TEST(constant_values_have_no_correlation)
{
	struct pairs p = { 0 };

	ck_assert(isnan(pairs_covariance(&p, 0)) && isnan(pairs_correlation(&p, 0)));
	pairs_add(&p, 0, 1e200, 3); /* its square overflows */
	ck_assert(isnan(pairs_covariance(&p, 1)) && isnan(pairs_correlation(&p, 1)));
	pairs_add(&p, 1, 1e200, 4);
	ck_assert_double_eq(pairs_covariance(&p, 2), 0);
	ck_assert(isnan(pairs_correlation(&p, 2)));
	/* Nor has its distance: not 0, as for an infinite number. */
	pairs_add(&p, 2, -1e200, 5);
	ck_assert(isnan(pairs_correlation(&p, 3)));
}

TEST(neighbours_are_dependent_when_chance_would_not_make_it)
{
	ck_assert_int_eq(dependence_of_neighbours(0.5, 100), DEPENDENCE_NEIGHBOURS);
	ck_assert_int_eq(dependence_of_neighbours(0.2, 100), DEPENDENCE_NONE);
	ck_assert_int_eq(dependence_of_neighbours(0.2, 1000), DEPENDENCE_NEIGHBOURS);
	/* the interval is too wide then */
	ck_assert_int_eq(dependence_of_neighbours(-0.9, 1000), DEPENDENCE_NONE);
	ck_assert_int_eq(dependence_of_neighbours(1, 7), DEPENDENCE_NONE); /* unknown for few */
	ck_assert_int_eq(dependence_of_neighbours(NAN, 1000), DEPENDENCE_NONE);
}

SUITE("pairs")
