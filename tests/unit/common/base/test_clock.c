/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "tests/suite.h"

#include <stdlib.h>

TEST(times_are_written_as_in_rfc3339)
{
	char out[CLOCK_TEXT_BYTES];

	ck_assert_str_eq(clock_format_rfc3339(out, 0, 0), "1970-01-01T00:00:00Z");
	ck_assert_str_eq(clock_format_rfc3339(out, 1709208000 * NSEC_PER_SEC + 5, 9),
			 "2024-02-29T12:00:00.000000005Z");
	ck_assert_str_eq(clock_format_rfc3339(out, 1709208000 * NSEC_PER_SEC + 999999999, 3),
			 "2024-02-29T12:00:00.999Z");
	ck_assert_str_eq(clock_format_rfc3339(out, -1, 9), "1969-12-31T23:59:59.999999999Z");
	ck_assert_str_eq(clock_format_rfc3339(out, 5, 42), "1970-01-01T00:00:00.000000005Z");
	ck_assert_str_eq(clock_format_rfc3339(out, INT64_MAX, 9), "2262-04-11T23:47:16.854775807Z");
	ck_assert_str_eq(clock_format_rfc3339(out, INT64_MIN, 0), "1677-09-21T00:12:43Z");
}

TEST(clocks_do_not_run_backwards)
{
	nsec_t before = clock_mono();

	for (int i = 0; i < 1000; i++) {
		nsec_t now = clock_mono();

		ck_assert_int_ge(now, before);
		before = now;
	}
	ck_assert_int_gt(clock_wall(), INT64_C(1700000000) * NSEC_PER_SEC);
}

TEST(monotonic_ticks_are_nanoseconds)
{
	struct ticks_scale s;

	ck_assert_int_eq(ticks_calibrate(&s, TICKS_MONOTONIC, 0), 0);
	ck_assert(ticks_scale_is_sane(&s));
	ck_assert_int_eq(ticks_to_nsec(&s, 0), 0);
	ck_assert_int_eq(ticks_to_nsec(&s, 123456789), 123456789);
	ck_assert_int_eq(ticks_to_nsec(&s, UINT64_MAX), INT64_MAX);
}

/* w0 + ((t - t0) * m >> s), with an arithmetic shift. */
TEST(times_before_the_base_are_rounded_down_too)
{
	struct ticks_scale s = { .base_ticks = 1000, .base_ns = 500, .mult = 3, .shift = 2 };

	for (uint64_t t = 900; t < 1100; t++)
		ck_assert_int_eq(ticks_to_nsec(&s, t), 500 + (((int64_t)t - 1000) * 3 >> 2));
}

TEST(two_points_make_a_scale)
{
	/* 2.5 GHz */
	struct ticks_scale s;
	uint64_t ticks[2] = { 1000, 1000 + UINT64_C(2500000000) };
	nsec_t ns[2] = { 50, 50 + NSEC_PER_SEC };

	ck_assert_int_eq(ticks_scale_from_points(&s, ticks, ns), 0);
	ck_assert_int_eq(ticks_to_nsec(&s, ticks[1]), ns[1]);
	ck_assert_int_le(llabs(ticks_to_nsec(&s, ticks[0]) - ns[0]), 1);
	ck_assert_int_le(llabs(ticks_delta_to_nsec(&s, 2500) - 1000), 1);
	/* An hour later it is still exact to a few nanoseconds. */
	ck_assert_int_le(
		llabs(ticks_delta_to_nsec(&s, UINT64_C(9000000000000)) - 3600 * NSEC_PER_SEC), 10);
}

TEST(points_that_do_not_advance_are_refused)
{
	struct ticks_scale s;

	ck_assert_int_eq(ticks_scale_from_points(&s, (uint64_t[]){ 5, 5 }, (nsec_t[]){ 1, 2 }),
			 -ERR_INVALID);
	ck_assert_int_eq(ticks_scale_from_points(&s, (uint64_t[]){ 5, 4 }, (nsec_t[]){ 1, 2 }),
			 -ERR_INVALID);
	ck_assert_int_eq(ticks_scale_from_points(&s, (uint64_t[]){ 5, 9 }, (nsec_t[]){ 2, 2 }),
			 -ERR_INVALID);
	ck_assert_int_eq(
		ticks_scale_from_points(&s, (uint64_t[]){ 0, 1 }, (nsec_t[]){ 0, INT64_MAX }),
		-ERR_INVALID);
	ck_assert_int_eq(
		ticks_scale_from_points(&s, (uint64_t[]){ 0, UINT64_MAX }, (nsec_t[]){ 0, 1 }),
		-ERR_INVALID);
}

TEST(any_scale_saturates_instead_of_overflowing)
{
	struct rng r;

	rng_init(&r, suite_seed(8));
	for (int i = 0; i < 100000; i++) {
		struct ticks_scale s = { rng_next(&r), (int64_t)rng_next(&r),
					 rng_next(&r) >> rng_below(&r, 64),
					 (uint32_t)rng_below(&r, 200), TICKS_TSC };
		uint64_t t = rng_next(&r);
		nsec_t a = ticks_to_nsec(&s, t);

		/* Monotonic: later ticks are never earlier. */
		if (t < UINT64_MAX)
			ck_assert_int_ge(ticks_to_nsec(&s, t + 1), a);
	}
	ck_assert_int_eq(ticks_to_nsec(&(struct ticks_scale){ .base_ns = INT64_MAX, .mult = 1 }, 1),
			 INT64_MAX);
	ck_assert_int_eq(
		ticks_to_nsec(
			&(struct ticks_scale){ .base_ticks = 9, .base_ns = INT64_MIN, .mult = 1 },
			1),
		INT64_MIN);
}

TEST(a_peers_scale_is_judged)
{
	ck_assert(!ticks_scale_is_sane(&(struct ticks_scale){ .mult = 0 }));
	ck_assert(!ticks_scale_is_sane(&(struct ticks_scale){ .mult = 1001 }));
	ck_assert(ticks_scale_is_sane(&(struct ticks_scale){ .mult = 1000 }));
	ck_assert(!ticks_scale_is_sane(&(struct ticks_scale){ .mult = 1, .shift = 7 }));
	ck_assert(ticks_scale_is_sane(&(struct ticks_scale){ .mult = 2, .shift = 7 }));
	ck_assert(!ticks_scale_is_sane(&(struct ticks_scale){ .mult = 1, .shift = 64 }));
	ck_assert(!ticks_scale_is_sane(&(struct ticks_scale){ .mult = 1, .source = 2 }));
}

TEST(calibrated_ticks_follow_the_monotonic_clock)
{
	enum ticks_source source = ticks_source_best();
	nsec_t before, between, after;
	struct ticks_scale s;

	ck_assert_int_eq(ticks_calibrate(&s, source, 20 * NSEC_PER_MSEC), 0);
	ck_assert_uint_eq(s.source, source);
	/* Between two readings of the clock, with room for a scale measured over 20 ms only. */
	before = clock_mono();
	between = ticks_to_nsec(&s, ticks_now(source));
	after = clock_mono();
	ck_assert_int_ge(between, before - NSEC_PER_MSEC);
	ck_assert_int_le(between, after + NSEC_PER_MSEC);
	if (!tsc_is_invariant())
		ck_assert_int_eq(ticks_calibrate(&s, TICKS_TSC, NSEC_PER_MSEC), -ERR_UNSUPPORTED);
}

TEST(the_environment_can_refuse_the_tsc)
{
	setenv("OMIG_TICKS", "monotonic", 1);
	ck_assert_int_eq(ticks_source_best(), TICKS_MONOTONIC);
	unsetenv("OMIG_TICKS");
	ck_assert_int_eq(ticks_source_best(), tsc_is_invariant() ? TICKS_TSC : TICKS_MONOTONIC);
}

SUITE("clock")
