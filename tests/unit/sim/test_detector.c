/* SPDX-License-Identifier: Apache-2.0 */
/* The failure detector of our links: when it errs, and how soon it finds. A long run's figures are in docs/sim.md. */
#include "common/base/limits.h"
#include "sim/detector.h"
#include "tests/suite.h"

#include <math.h>

static struct detector_result measure(unsigned links, nsec_t time, double loss)
{
	struct detector_conf c = { .seed = suite_seed(1), .links = links, .time = time, .loss = loss };
	struct detector_result r;
	struct err e = { 0 };

	ck_assert_int_eq(delay_parse("lognormal(5ms, 5ms)", &c.delay, &e), 0);
	ck_assert_msg(detector_measure(&c, &r, &e) == 0, "%s", e.text);
	return r;
}

START_TEST(who_is_gone_is_found_in_six_seconds_by_both_sides)
{
	struct detector_result r = measure(40, 60 * NSEC_PER_SEC, 0.01);

	ck_assert_uint_eq(r.suspicions, 0);
	ck_assert_uint_eq(r.found.n, 80);
	/* The last sign of life came up to a period before; a second is for the slots of an sm's timers, and the way. */
	ck_assert_double_gt(r.found.min, 2);
	ck_assert_double_lt(r.found_max, 6 + 1);
}
END_TEST

START_TEST(on_a_network_that_loses_a_third_it_errs)
{
	struct detector_result good = measure(10, 3600 * NSEC_PER_SEC, 0.01), bad = measure(10, 3600 * NSEC_PER_SEC, 0.35);

	ck_assert_uint_eq(good.suspicions, 0);
	ck_assert_uint_gt(bad.suspicions, 10);
	ck_assert_uint_gt(good.frames, 10 * 2 * 3600 / 4);
}
END_TEST

/* Garwood's interval, as tables of it have it. */
START_TEST(the_interval_of_a_count_is_that_of_a_table)
{
	double n[2];

	detector_poisson(0, 0.95, n);
	ck_assert_double_eq_tol(n[0], 0, 1e-9);
	ck_assert_double_eq_tol(n[1], 3.6889, 1e-4);
	detector_poisson(5, 0.95, n);
	ck_assert_double_eq_tol(n[0], 1.6235, 1e-4);
	ck_assert_double_eq_tol(n[1], 11.6683, 1e-4);
}
END_TEST

SUITE("detector", who_is_gone_is_found_in_six_seconds_by_both_sides, on_a_network_that_loses_a_third_it_errs,
      the_interval_of_a_count_is_that_of_a_table)
