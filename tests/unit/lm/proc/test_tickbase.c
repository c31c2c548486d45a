/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks that ranks stamp with. */
#include "lm/proc/tickbase.h"
#include "tests/suite.h"

/* The environment is that of the process that started the lm. Each rank reports its own clock. */
TEST(the_lms_environment_does_not_change_the_clock_of_a_rank)
{
	struct tickbase t;

	setenv("OMIG_TICKS", "monotonic", 1);
	tickbase_init(&t);
	ck_assert_uint_eq(tickbase_scale(&t, TICKS_TSC)->source,
			  tsc_is_invariant() ? TICKS_TSC : TICKS_MONOTONIC);
	ck_assert_uint_eq(tickbase_scale(&t, TICKS_MONOTONIC)->source, TICKS_MONOTONIC);
}

TEST(an_unknown_clock_counts_as_the_monotonic_one)
{
	struct tickbase t;

	tickbase_init(&t);
	ck_assert_uint_eq(tickbase_scale(&t, 77)->source, TICKS_MONOTONIC);
	ck_assert_uint_le(tickbase_now(&t, 77), (uint64_t)clock_mono());
}

SUITE("lm tickbase")
