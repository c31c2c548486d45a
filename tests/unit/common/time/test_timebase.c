/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/time/timebase.h"
#include "tests/suite.h"

#define SEC NSEC_PER_SEC
#define MS NSEC_PER_MSEC
#define WALL (INT64_C(1700000000) * SEC)

TEST(the_root_is_its_own_time_without_error)
{
	struct timebase t;

	timebase_init_root(&t, 100, WALL);
	ck_assert_int_eq(timebase_now(&t, 100), WALL);
	ck_assert_int_eq(timebase_now(&t, 100 + SEC), WALL + SEC);
	ck_assert_int_eq(timebase_error(&t, 100 + 1000000 * SEC), 0);
	ck_assert_int_eq(timebase_update(&t, &(struct timebase_sample){ 1, 2, 3, 0 }), 0);
	ck_assert_int_eq(timebase_now(&t, 100 + SEC), WALL + SEC);
}

TEST(without_a_sample_the_error_is_unknown)
{
	struct timebase t;

	timebase_init(&t, 0, WALL);
	ck_assert_int_eq(timebase_error(&t, 5 * SEC), TIMEBASE_UNKNOWN_NS);
	ck_assert_int_eq(timebase_at(&t, SEC), WALL + SEC);
}

TEST(the_true_time_is_within_the_bound_for_any_split_of_the_delay)
{
	struct rng rng;

	rng_init(&rng, suite_seed(1));
	for (int i = 0; i < 10000; i++) {
		nsec_t sent = (nsec_t)rng_below(&rng, 1000 * SEC),
		       there = (nsec_t)rng_below(&rng, SEC);
		nsec_t back = (nsec_t)rng_below(&rng, SEC),
		       offset = WALL + (nsec_t)rng_below(&rng, SEC);
		struct timebase t;

		timebase_init(&t, 0, 0);
		ck_assert_int_eq(
			timebase_update(&t, &(struct timebase_sample){ sent, sent + there + back,
								       sent + there + offset, 0 }),
			0);
		ck_assert_int_le(llabs(t.offset - offset), t.error);
		ck_assert_int_eq(t.error, (there + back + 1) / 2);
	}
}

TEST(clocks_that_drift_stay_within_a_bound_that_grows)
{
	struct timebase t;

	timebase_init(&t, 0, 0);
	timebase_update(&t, &(struct timebase_sample){ 0, 2 * MS, WALL, 0 });
	for (nsec_t at = 0; at < 3600 * SEC; at += 7 * SEC) {
		nsec_t drifted =
			at + at / 1000000 *
				     TIMEBASE_DRIFT_PPM; /* of a clock that is as fast as allowed */

		ck_assert_int_le(llabs(timebase_at(&t, at) - (WALL + drifted - MS)),
				 timebase_error(&t, at) + 2 * MS);
	}
	ck_assert_int_eq(timebase_error(&t, 2 * MS + 10 * SEC), MS + MS);
}

TEST(a_better_sample_is_taken_and_a_worse_one_is_not)
{
	struct timebase t;

	timebase_init(&t, 0, 0);
	timebase_update(&t, &(struct timebase_sample){ 0, 10 * MS, WALL, 0 });
	ck_assert_int_eq(t.error, 5 * MS);
	timebase_update(&t, &(struct timebase_sample){ SEC, SEC + 100 * MS, WALL + SEC, 0 });
	ck_assert_int_eq(t.error, 5 * MS);
	timebase_update(&t, &(struct timebase_sample){ SEC, SEC + 2 * MS, WALL + SEC, MS });
	ck_assert_int_eq(t.error, 2 * MS);
	/* After 100 s of drift, a sample with an error of 5 ms is better than the old one. */
	timebase_update(&t, &(struct timebase_sample){ 101 * SEC, 101 * SEC + 10 * MS,
						       WALL + 101 * SEC, 0 });
	ck_assert_int_eq(t.error, 5 * MS);
	ck_assert_uint_eq(t.roots, 0);
}

/* The root was restarted and its wall clock was set: the two bounds exclude each other. */
TEST(another_root_is_accepted_at_once)
{
	struct timebase t;
	double ppm, error;

	for (int sign = -1; sign <= 1; sign += 2) {
		nsec_t jump = sign * 3600 * SEC;

		timebase_init(&t, 0, 0);
		for (nsec_t at = 0; at < 10 * SEC; at += SEC)
			timebase_update(&t, &(struct timebase_sample){ at, at + MS, WALL + at, 0 });
		ck_assert_int_le(t.error, MS);
		timebase_update(&t, &(struct timebase_sample){ 10 * SEC, 10 * SEC + 50 * MS,
							       WALL + 10 * SEC + jump, 0 });
		ck_assert_uint_eq(t.roots, 1);
		ck_assert_int_eq(t.error, 25 * MS);
		ck_assert_int_le(llabs(timebase_at(&t, 10 * SEC) - WALL - 10 * SEC - jump),
				 t.error);
		/* The drift known so far belongs to the other clock. */
		ck_assert(!timebase_drift(&t, &ppm, &error));
		timebase_update(&t, &(struct timebase_sample){ 20 * SEC, 20 * SEC + MS,
							       WALL + 20 * SEC + jump, 0 });
		ck_assert(timebase_drift(&t, &ppm, &error));
		ck_assert_double_le(fabs(ppm), error);
		ck_assert_uint_eq(t.roots, 1);
	}
}

TEST(samples_that_cannot_be_are_ignored)
{
	static const struct timebase_sample bad[] = {
		{ 10, 9, WALL, 0 },	   { -1, 5, WALL, 0 }, { 0, INT64_MAX, WALL, 0 },
		{ 0, 1, INT64_MAX, 0 },	   { 0, 1, -5, 0 },    { 0, 1, WALL, -1 },
		{ 0, 1, WALL, INT64_MAX }, /* the peer's own error is unknown */
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct timebase t;

		timebase_init(&t, 0, 0);
		ck_assert_int_eq(timebase_update(&t, &bad[i]), -ERR_INVALID);
		ck_assert_int_eq(t.error, TIMEBASE_UNKNOWN_NS);
	}
}

/* A clock 37 ppm slow, read with delays of any length: the bound always holds and shrinks. */
TEST(the_drift_lies_within_its_bound)
{
	double ppm, error, first = 0;
	struct timebase t;
	struct rng r;

	rng_init(&r, 5);
	timebase_init(&t, 0, 0);
	ck_assert(!timebase_drift(&t, &ppm, &error));
	for (nsec_t at = SEC; at < 3600 * SEC; at += 3 * SEC) {
		nsec_t there = (nsec_t)rng_below(&r, 20 * MS),
		       back = (nsec_t)rng_below(&r, 20 * MS);
		nsec_t then = at + there;

		timebase_update(&t,
				&(struct timebase_sample){ at, then + back,
							   WALL + then + then / 1000000 * 37, 0 });
		if (!timebase_drift(&t, &ppm, &error))
			continue;
		ck_assert_double_le(fabs(ppm - 37), error + 0.1);
		first = first > 0 ? first : error;
	}
	ck_assert_double_lt(error, first / 20);
	timebase_init_root(&t, 0, 0);
	ck_assert(timebase_drift(&t, &ppm, &error) && ppm == 0 && error == 0);
}

TEST(the_time_never_decreases)
{
	struct timebase t;
	nsec_t before;

	timebase_init(&t, 0, WALL + SEC);
	before = timebase_now(&t, SEC);
	timebase_update(&t, &(struct timebase_sample){ SEC, SEC + MS, WALL, 0 });
	ck_assert_int_lt(timebase_at(&t, SEC + MS), before);
	ck_assert_int_ge(timebase_now(&t, SEC + MS), before);
	ck_assert_int_gt(timebase_now(&t, 10 * SEC), before);
}

SUITE("timebase")
