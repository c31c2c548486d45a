/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tools/measure/history.h"

#include <math.h>

TEST(the_oldest_read_is_dropped)
{
	struct history *h = history_new(3);

	for (int i = 0; i < 5; i++) {
		history_begin(h, 100 + i);
		ck_assert_int_eq(history_set(h, "a", i, 0.5), 0);
	}
	ck_assert_uint_eq(history_reads(h), 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(history_time(h, i), 102 + (int64_t)i);
		ck_assert_double_eq(history_value(h, 0, i), 2.0 + (double)i);
	}
	history_free(h);
}

TEST(an_object_is_unknown_in_reads_without_it)
{
	struct history *h = history_new(10);

	history_begin(h, 1);
	history_set(h, "a", 1, 0.5);
	history_begin(h, 2);
	history_set(h, "b", 2, 0.5);
	history_begin(h, 3);
	history_set(h, "a", 3, 0.5);
	history_set(h, "b", 0, 0.5);
	ck_assert_uint_eq(history_objects(h), 2);
	ck_assert_str_eq(history_name(h, 0), "a");
	ck_assert_str_eq(history_name(h, 1), "b");
	ck_assert(isnan(history_value(h, 0, 1)));
	ck_assert(isnan(history_value(h, 1, 0)));
	ck_assert_double_eq(history_value(h, 1, 2), 0);
	ck_assert_double_eq(history_bound(h, 1, 2), 0.5);
	ck_assert(isnan(history_bound(h, 1, 0)));
	history_free(h);
}

TEST(a_value_before_the_first_read_is_ignored)
{
	struct history *h = history_new(2);

	ck_assert_int_eq(history_set(h, "a", 1, 0.5), 0);
	ck_assert_uint_eq(history_objects(h), 0);
	history_free(h);
}

TEST(objects_beyond_the_limit_are_counted)
{
	struct history *h = history_new(HISTORY_READS_MAX);
	size_t most = HISTORY_VALUES_MAX / HISTORY_READS_MAX;
	char name[16];

	history_begin(h, 1);
	for (size_t i = 0; i < most + 5; i++) {
		snprintf(name, sizeof(name), "%zu", i);
		ck_assert_int_eq(history_set(h, name, 1, 0.5), i < most ? 0 : -ERR_LIMIT);
	}
	ck_assert_uint_eq(history_objects(h), most);
	ck_assert_uint_eq(history_left_out(h), 5);
	history_free(h);
}

TEST(a_lack_of_memory_is_reported)
{
	ALLOC_SWEEP (k) {
		struct history *h = history_new(4);
		int rc = 0;

		if (h) {
			history_begin(h, 1);
			rc = history_set(h, "a", 1, 0.5);
		}
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert_uint_eq(h ? history_objects(h) : 0, h && !rc);
		history_free(h);
	}
}

SUITE("tools/measure/history")
