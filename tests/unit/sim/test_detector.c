/* SPDX-License-Identifier: Apache-2.0 */
/* The failure detector of our links: when it errs, and how soon it finds. A long run's figures are
 * in docs/sim.md. */
#include "common/base/limits.h"
#include "common/base/str.h"
#include "sim/studies/detector_compare.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

static struct detector_result measure(unsigned links, nsec_t time, double loss)
{
	struct detector_conf c = {
		.seed = suite_seed(1), .links = links, .time = time, .loss = loss
	};
	struct detector_result r;
	struct err e = { 0 };

	ck_assert_int_eq(delay_parse("lognormal(5ms, 5ms)", &c.delay, &e), 0);
	ck_assert_msg(detector_measure(&c, &r, &e) == 0, "%s", e.text);
	return r;
}

TEST(a_lost_peer_is_detected_in_six_seconds_by_both_sides)
{
	struct detector_result r = measure(40, 60 * NSEC_PER_SEC, 0.01);

	ck_assert_uint_eq(r.suspicions, 0);
	ck_assert_uint_eq(r.found.n, 80);
	/*
	 * The last sign of life arrived up to a period before. A second is for the slots of an sm's
	 * timers, and the transit.
	 */
	ck_assert_double_gt(r.found.min, 2);
	ck_assert_double_lt(r.found_max, 6 + 1);
}

TEST(on_a_network_that_loses_a_third_it_errs)
{
	struct detector_result good = measure(10, 3600 * NSEC_PER_SEC, 0.01),
			       bad = measure(10, 3600 * NSEC_PER_SEC, 0.35);

	ck_assert_uint_eq(good.suspicions, 0);
	ck_assert_uint_gt(bad.suspicions, 10);
	ck_assert_uint_gt(good.frames, 10 * 2 * 3600 / 4);
}

/*
 * Adaptive detectors take TCP's retransmissions for losses; those with a wait like ours err as
 * rarely.
 */
TEST(detectors_of_equal_cost_are_compared_over_one_network)
{
	struct detector_conf c = { .seed = suite_seed(1),
				   .links = 10,
				   .time = 86400 * NSEC_PER_SEC,
				   .loss = 0.01,
				   .delay_text = "lognormal(5ms, 5ms)" };
	struct detector_compared r[DETECTORS_MAX];
	struct buf b = BUF_INIT(4096);
	struct err e = { 0 };
	int n = detectors_measure(&c, r, &e);

	ck_assert_msg(n == 5, "%s", e.text);
	for (int i = 0; i < n; i++) {
		bool learns = str_eq(r[i].name, "adaptive") || str_eq(r[i].name, "phi");

		ck_assert_double_eq_tol(r[i].months, 1.0 / 3, 1e-9);
		/* a crash in the moment of a mistake counts for none */
		ck_assert_uint_gt(r[i].found.n, 390);
		ck_assert_double_le(r[i].found.max, 6.1);
		if (learns)
			ck_assert_uint_gt(r[i].suspicions, 500);
		else
			ck_assert_uint_eq(r[i].suspicions, 0);
	}
	detectors_print(r, (unsigned)n, &b);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), " 0 (0 to 11.1)"));
	buf_done(&b);
	c.delay_text = "soon";
	ck_assert_int_lt(detectors_measure(&c, r, &e), 0);
	ck_assert_ptr_nonnull(strstr(e.text, "soon"));
}

/* Garwood's interval, as tables of it have it. */
TEST(the_interval_of_a_count_is_that_of_a_table)
{
	double n[2];

	detector_poisson(0, 0.95, n);
	ck_assert_double_eq_tol(n[0], 0, 1e-9);
	ck_assert_double_eq_tol(n[1], 3.6889, 1e-4);
	detector_poisson(5, 0.95, n);
	ck_assert_double_eq_tol(n[0], 1.6235, 1e-4);
	ck_assert_double_eq_tol(n[1], 11.6683, 1e-4);
	detector_poisson(1000, 0.95, n); /* this one computed with 60 digits */
	ck_assert_double_eq_tol(n[0], 938.973018, 1e-6);
	ck_assert_double_eq_tol(n[1], 1063.952136, 1e-6);
	detector_poisson(135676, 0.95, n); /* k -+ 1.96 sqrt(k) + 1.3 or so */
	ck_assert_double_eq_tol(n[0], 134956, 2);
	ck_assert_double_eq_tol(n[1], 136400, 2);
}

SUITE("detector")
