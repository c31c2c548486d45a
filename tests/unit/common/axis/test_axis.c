/* SPDX-License-Identifier: Apache-2.0 */
#include "common/axis/axis.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "tests/suite.h"

#include <math.h>

#define RANDOM_SCALES 20000
#define TICKS_MAX 17 /* the labels that fit beside a picture */

TEST(values_lie_between_the_ends_in_proportion)
{
	struct axis a = axis_linear(10, 20, 100, 50);

	ck_assert_double_eq(axis_place(&a, 10), 100);
	ck_assert_double_eq(axis_place(&a, 15), 125);
	ck_assert_double_eq(axis_place(&a, 20), 150);
	ck_assert_double_eq(axis_place(&a, 9), 100);
	ck_assert_double_eq(axis_place(&a, 1e300), 150);
	ck_assert_double_eq(axis_place(&a, NAN), 100);
}

TEST(a_negative_length_goes_up)
{
	struct axis a = axis_linear(0, 4, 10, -8);

	ck_assert_double_eq(axis_place(&a, 0), 10);
	ck_assert_double_eq(axis_place(&a, 1), 8);
	ck_assert_double_eq(axis_place(&a, 4), 2);
}

TEST(powers_of_ten_are_at_equal_distances_on_a_logarithmic_scale)
{
	struct axis a = axis_of(1, 1000, 0, 30, true);

	ck_assert_double_eq_tol(axis_place(&a, 10), 10, 1e-9);
	ck_assert_double_eq_tol(axis_place(&a, 100), 20, 1e-9);
	ck_assert_double_eq(axis_place(&a, 0), 0);
	ck_assert_double_eq(axis_place(&a, -5), 0);
}

TEST(equal_and_infinite_ends_get_room)
{
	static const double ends[][2] = { { 3, 3 },	    { 0, 0 },	{ INFINITY, 1 },
					  { -INFINITY, 0 }, { NAN, 2 }, { 1e301, 1e302 },
					  { 5, 4 } };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		for (int is_log = 0; is_log < 2; is_log++) {
			struct axis a = axis_of(ends[i][0], ends[i][1], 0, 1, is_log);

			ck_assert(isfinite(a.from) && isfinite(a.to) && a.from < a.to);
			ck_assert(!is_log || a.from > 0);
		}
}

TEST(labels_of_round_numbers)
{
	static const char *const want[] = { "0", "20", "40", "60", "80", "100" };
	struct axis a = axis_linear(0, 100, 0, 10);
	char words[AXIS_WORDS_BYTES];
	double at;
	int n = 0;

	for (; axis_tick(&a, n, &at, words); n++) {
		ck_assert_int_lt(n, (int)ARRAY_LEN(want));
		ck_assert_str_eq(words, want[n]);
	}
	ck_assert_int_eq(n, (int)ARRAY_LEN(want));
}

TEST(steps_are_1_2_or_5_times_a_power_of_ten)
{
	ck_assert_double_eq_tol(axis_step(10, 5), 2, 1e-12);
	ck_assert_double_eq_tol(axis_step(0.9, 5), 0.2, 1e-12);
	ck_assert_double_eq_tol(axis_step(4000, 5), 1000, 1e-9);
}

/* Of any scale: ticks are in it, ascend, and stand where their label says. */
static void check_ticks(const struct axis *a)
{
	double before = a->at - 1, at, v;
	char words[AXIS_WORDS_BYTES];
	int n = 0;

	for (; axis_tick(a, n, &at, words); n++) {
		ck_assert(at > before && at <= a->at + a->length + 1e-6);
		ck_assert_int_eq(str_to_double(words, -1e302, 1e302, &v), 0);
		ck_assert_double_eq_tol(axis_place(a, v), at, a->length * 1e-3);
		before = at;
	}
	ck_assert_int_le(n, TICKS_MAX);
}

TEST(ticks_ascend_and_stand_at_their_values)
{
	struct rng r;

	rng_init(&r, suite_seed(1));
	for (int i = 0; i < RANDOM_SCALES; i++) {
		bool is_log = rng_below(&r, 2);
		double from =
			pow(10, (double)rng_below(&r, 12) - 6) * (1 + (double)rng_below(&r, 9));
		double to = from * (1.1 + (double)rng_below(&r, 100000) / 10);
		struct axis a;

		if (!is_log && rng_below(&r, 2))
			from = -from;
		a = axis_of(from, to, 0, 100, is_log);
		check_ticks(&a);
	}
}

SUITE("common/axis")
