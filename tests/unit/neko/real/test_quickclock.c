/* SPDX-License-Identifier: Apache-2.0 */
/* A quick clock equals the system's, within its stated error. */
#include "neko/real/quickclock.h"
#include "tests/suite.h"

#include <stdlib.h>

#define READINGS 200000 /* some times as long as a reading is good */

static void is_right(struct quickclock *c)
{
	for (unsigned i = 0; i < READINGS; i++) {
		nsec_t before = clock_mono(), now = quickclock_now(c), after = clock_mono();

		ck_assert_int_ge(now, before - quickclock_error(c));
		ck_assert_int_le(now, after + quickclock_error(c));
	}
}

TEST(quickclock_equals_the_clock_with_and_without_ticks)
{
	struct quickclock c = { 0 };

	is_right(&c);
	ck_assert_int_eq(quickclock_error(&c), 0);
	quickclock_init(&c);
	ck_assert_int_eq(c.is_quick, ticks_source_best() == TICKS_TSC);
	is_right(&c);
	ck_assert_int_eq(setenv("OMIG_TICKS", "monotonic", 1), 0);
	quickclock_init(&c);
	ck_assert(!c.is_quick);
	is_right(&c);
}

SUITE("quickclock")
