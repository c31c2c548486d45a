/* SPDX-License-Identifier: Apache-2.0 */
/* Welch's test against numbers that were integrated. */
#include "stats/welch.h"
#include "tests/suite.h"

#include <math.h>

/* t = 1.4341 with 19.885 degrees; by integration of the density p = 0.167071, and t = 2.0867 is the
 * edge. */
TEST(unequal_variances_have_fewer_degrees)
{
	const struct welch_mean a = { 20.6, 0.84261497, 9 }, b = { 22.135, 0.66, 19 };
	struct welch_difference d = welch_compare(&a, &b, 0, 0.95);

	ck_assert_double_eq_tol(d.value, 1.535, 1e-12);
	ck_assert(!d.is_sure);
	ck_assert_double_eq_tol(d.p, 0.167071, 1e-5);
	ck_assert_double_eq_tol(d.half / hypot(a.error, b.error), 2.0867, 1e-3);
}

TEST(a_bias_widens_the_interval)
{
	const struct welch_mean a = { 0, 0.1, 50 }, b = { 1, 0.1, 50 };
	struct welch_difference without = welch_compare(&a, &b, 0, 0.95),
				with = welch_compare(&a, &b, 0.9, 0.95);

	ck_assert(without.is_sure && !with.is_sure);
	ck_assert_double_eq_tol(with.half - without.half, 0.9, 1e-12);
	ck_assert(with.p > without.p);
}

TEST(without_spread_any_difference_is_sure)
{
	const struct welch_mean same = { 0, 0, 3 }, other = { 1e-9, 0, 3 };

	ck_assert(welch_paired(&same, 0.95).p == 1 && !welch_paired(&same, 0.95).is_sure);
	ck_assert(welch_paired(&other, 0.95).p == 0 && welch_paired(&other, 0.95).is_sure);
}

/* With 4 degrees t = 2.776 is the edge of 95 %. */
TEST(pairs_are_judged_by_students_t)
{
	const struct welch_mean in = { 2.77, 1, 4 }, out = { 2.78, 1, 4 };

	ck_assert(!welch_paired(&in, 0.95).is_sure && welch_paired(&out, 0.95).is_sure);
	ck_assert_double_eq_tol(welch_paired(&out, 0.95).p, 0.05, 2e-3);
}

SUITE("welch")
