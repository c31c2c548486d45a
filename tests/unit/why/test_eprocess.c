/* SPDX-License-Identifier: Apache-2.0 */
/* Tests by betting: values by hand and by brute force, and error rates under the hypothesis. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "tests/suite.h"
#include "why/eprocess.h"

#include <math.h>

/* The mixture over bets and beginnings, as its definition reads. */
static double brute_force(const double *x, size_t n, double theta)
{
	double e = 0.2 / (double)n;

	for (size_t s = 0; s < n; s++) {
		double weight = s ? 0.2 / ((double)s * (double)(s + 1)) : 0.8;

		for (int i = 0; i < EPROCESS_BETS; i++) {
			double lambda = fmin(ldexp(0.5, i), 0.9 / theta), product = 1;

			for (size_t t = s; t < n; t++)
				product *= 1 + lambda * (x[t] - theta);
			e += weight * product / EPROCESS_BETS;
		}
	}
	return e;
}

TEST(the_capital_of_shares_is_the_mixture_of_all_bets_and_beginnings)
{
	const double x[] = { 0, 0.1, 0.02, 0.3, 1, 0, 0.25 };
	struct eprocess p = { 0 };

	for (size_t n = 1; n <= ARRAY_LEN(x); n++) {
		eprocess_add_share(&p, NAN, 0.02);
		eprocess_add_share(&p, x[n - 1], 0.02);
		ck_assert_double_eq_tol(p.log_e, log(brute_force(x, n, 0.02)), 1e-12);
		ck_assert_uint_eq(p.n, n);
	}
	ck_assert_double_ge(p.log_sup, p.log_e);
}

TEST(one_hit_among_eight_is_the_mean_of_its_odds)
{
	struct eprocess p = { 0 };

	eprocess_add_event(&p, 1, 0.125);
	/* (2 + 4 + 6 + 7.6) / 4 for the part that bets, and 1 for that which does not. */
	ck_assert_double_eq_tol(exp(p.log_e), 0.8 * 4.9 + 0.2, 1e-12);
	p = (struct eprocess){ 0 };
	eprocess_add_event(&p, 0, 0.5);
	ck_assert_double_eq_tol(exp(p.log_e), 0.8 * (0.5 + 0.1) / 2 + 0.2, 1e-12);
	p = (struct eprocess){ 0 };
	eprocess_add_event(&p, 1, 0.98);
	ck_assert_double_eq_tol(exp(p.log_e), 0.8 * 0.99 / 0.98 + 0.2, 1e-12);
}

TEST(a_million_sure_values_do_not_overflow)
{
	struct eprocess p = { 0 };

	for (int i = 0; i < 1000000; i++)
		eprocess_add_share(&p, 1, 0.02);
	ck_assert(isfinite(p.log_e));
	ck_assert_double_gt(p.log_e, 3e6);
	ck_assert_double_eq(eprocess_p(p.log_sup), 0);
	for (int i = 0; i < 1000000; i++)
		eprocess_add_share(&p, 0, 0.02);
	ck_assert(isfinite(p.log_e));
	ck_assert_double_gt(p.log_sup, p.log_e);
}

TEST(a_loss_that_begins_late_is_found_soon)
{
	struct eprocess p = { 0 };
	int blocks = 0;

	for (int i = 0; i < 1000; i++)
		eprocess_add_share(&p, 0, 0.02);
	for (; p.log_e < log(50) && blocks < 100; blocks++)
		eprocess_add_share(&p, 0.2, 0.02);
	ck_assert_int_le(blocks, 12);
}

/* Draws of mean `mean` in [0, 1]: constant, two values, rare large ones, and dependent ones. */
static double draw(int kind, double mean, double *state, struct rng *r)
{
	double u = rng_double(r);

	switch (kind) {
	case 0:
		return mean;
	case 1:
		return u < 0.5 ? 0 : 2 * mean;
	case 2:
		return u < mean ? 1 : 0;
	case 3: /* heavy tail: Pareto of index 1.5, scaled and cut */
		return fmin(mean / 3 * pow(1 - u, -2.0 / 3), 1);
	default: /* the spread depends on the past, the mean does not */
		*state = *state > mean ? 2 * mean * u : u < 0.05 ? 20 * mean : 0;
		return *state;
	}
}

TEST_EACH(a_true_hypothesis_is_seldom_rejected_at_any_time, kind, 5)
{
	enum { RUNS = 4000, VALUES = 200 };
	struct rng r;
	int wrong = 0;

	rng_init(&r, suite_seed(22) + (uint64_t)kind);
	for (int run = 0; run < RUNS; run++) {
		struct eprocess p = { 0 };
		double state = 0;

		for (int i = 0; i < VALUES; i++)
			eprocess_add_share(&p, draw(kind, 0.02, &state, &r), 0.02);
		wrong += p.log_sup >= log(20);
	}
	/* 5 % and four standard errors. */
	ck_assert_int_le(wrong, (int)(RUNS * 0.05 + 4 * sqrt(RUNS * 0.05 * 0.95)));
}

TEST_EACH(chance_alone_seldom_names_a_rank, i, 3)
{
	enum { RUNS = 4000, BLOCKS = 100 };
	const int ranks[] = { 2, 8, 100 };
	struct rng r;
	int wrong = 0;

	rng_init(&r, suite_seed(22) + (uint64_t)i);
	for (int run = 0; run < RUNS; run++) {
		struct eprocess p = { 0 };

		for (int t = 0; t < BLOCKS; t++)
			eprocess_add_event(&p, !rng_below(&r, (uint64_t)ranks[i]), 1.0 / ranks[i]);
		wrong += p.log_sup >= log(20);
	}
	ck_assert_int_le(wrong, (int)(RUNS * 0.05 + 4 * sqrt(RUNS * 0.05 * 0.95)));
}

TEST(holm_rejects_what_its_steps_allow)
{
	unsigned char is[4];

	/* By hand at 0.05: 0.01 <= 0.05/3, 0.02 <= 0.05/2, 0.06 > 0.05. */
	holm((double[]){ 0.02, 0.06, NAN, 0.01 }, 4, 0.05, is);
	ck_assert(is[0] && !is[1] && !is[2] && is[3]);
	/* 0.02 > 0.05/3: nothing after it, either. */
	holm((double[]){ 0.02, 0.02, 0.02 }, 3, 0.05, is);
	ck_assert(!is[0] && !is[1] && !is[2]);
	holm((double[]){ 0 }, 0, 0.05, is);
}

SUITE("why/eprocess")
