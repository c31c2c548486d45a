/* SPDX-License-Identifier: Apache-2.0 */
#include "common/ring/action.h"
#include "tests/suite.h"

#include <pthread.h>

TEST(a_counter_adds_and_runs_over_quietly)
{
	struct seg_cell c = { 0 };

	cell_count_add(&c, 5);
	cell_count_add(&c, -7);
	ck_assert_int_eq(c.n, -2);
	cell_count_add(&c, INT64_MIN);
	ck_assert_int_eq(c.n, INT64_MAX - 1);
}

TEST(an_integrator_sums_its_value_over_time)
{
	struct seg_cell c = { 0 };

	cell_integrator_add(&c, 1, 100);
	cell_integrator_add(&c, 2, 110); /* 1 x 10 */
	cell_integrator_add(&c, -3, 115); /* 3 x 5 */
	cell_integrator_add(&c, 1, 200); /* 0 x 85 */
	ck_assert_double_eq(c.integral, 25);
	ck_assert_double_eq(c.v, 1);
	ck_assert_uint_eq(c.t, 200);
	ck_assert_uint_eq(c.seq % 2, 0);
}

TEST(an_end_without_a_begin_is_ignored)
{
	struct seg_cell c = { 0 };

	cell_integrator_add(&c, -1, 100);
	ck_assert_uint_eq(c.t, 0);
	cell_integrator_add(&c, 1, 200);
	cell_integrator_add(&c, -1, 250);
	ck_assert_double_eq(c.integral, 50);
	cell_integrator_add(&c, 0.0 / 0.0, 300);
	ck_assert_double_eq(c.v, 0);
}

TEST(a_clock_that_steps_back_takes_nothing_away)
{
	struct seg_cell c = { 0 };

	cell_integrator_add(&c, 1, 100);
	cell_integrator_add(&c, 1, 90);
	cell_integrator_add(&c, -2, 110);
	ck_assert_double_eq(c.integral, 20);
}

TEST(a_confirmed_potential_start_counts_from_its_own_time)
{
	struct cell_potential p = { 0 };
	struct seg_cell c = { 0 };

	cell_patop_add(&c, &p, 1, 100, true);
	ck_assert_double_eq(c.v, 0);
	cell_patop_add(&c, &p, -1, 130, false);
	ck_assert_double_eq(c.integral, 30);
	ck_assert_double_eq(c.v, 0);
	ck_assert(!p.set);
	/* The newer replaces the older one. */
	cell_patop_add(&c, &p, 1, 200, true);
	cell_patop_add(&c, &p, 1, 250, true);
	cell_patop_add(&c, &p, -1, 260, false);
	ck_assert_double_eq(c.integral, 40);
	/* A start that was known at once needs no memory. */
	cell_patop_add(&c, &p, 1, 300, false);
	cell_patop_add(&c, &p, -1, 305, false);
	ck_assert_double_eq(c.integral, 45);
}

SUITE("cell")
