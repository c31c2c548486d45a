/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/err.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

TEST(an_array_grows_by_doubling_from_eight_to_its_limit)
{
	static const size_t want[] = { 8, 8, 16, 32, 40, 40 };
	static const size_t need[] = { 1, 8, 9, 17, 33, 40 };
	size_t cap = 0;
	int *v = NULL;

	for (size_t i = 0; i < ARRAY_LEN(need); i++) {
		ck_assert_int_eq(array_grow(&v, &cap, need[i], sizeof(*v), 40), 0);
		ck_assert_uint_eq(cap, want[i]);
	}
	ck_assert_int_eq(array_grow(&v, &cap, 41, sizeof(*v), 40), -ERR_LIMIT);
	ck_assert_uint_eq(cap, 40);
	free(v);
}

TEST(a_need_beyond_the_double_is_met)
{
	size_t cap = 0;
	char *v = NULL;

	ck_assert_int_eq(array_grow(&v, &cap, 100, 1, 1000), 0);
	ck_assert_uint_eq(cap, 100);
	ck_assert_int_eq(array_grow(&v, &cap, 101, 1, 1000), 0);
	ck_assert_uint_eq(cap, 200);
	ck_assert_int_eq(array_grow(&v, &cap, 0, 1, 1000), 0);
	ck_assert_uint_eq(cap, 200);
	free(v);
}

TEST(array_grow_zeroes_new_elements_and_keeps_old_ones)
{
	size_t cap = 0;
	long *v = NULL;

	for (size_t n = 1; n < 500; n++) {
		ck_assert_int_eq(array_grow(&v, &cap, n, sizeof(*v), SIZE_MAX), 0);
		for (size_t i = n - 1; i < cap; i++)
			ck_assert_int_eq(v[i], 0);
		for (size_t i = 0; i + 1 < n; i++)
			ck_assert_int_eq(v[i], (long)i + 1);
		v[n - 1] = (long)n;
	}
	free(v);
}

TEST(sizes_that_run_over_are_no_memory)
{
	size_t cap = 0, huge = SIZE_MAX / 2 + 1;
	long *v = NULL;

	ck_assert_int_eq(array_grow(&v, &cap, SIZE_MAX / 2, sizeof(*v), SIZE_MAX), -ERR_NOMEM);
	ck_assert_ptr_null(v);
	ck_assert_uint_eq(cap, 0);
	ck_assert_int_eq(array_grow(&v, &huge, SIZE_MAX, sizeof(*v), SIZE_MAX), -ERR_NOMEM);
	ck_assert_uint_eq(huge, SIZE_MAX / 2 + 1);
	alloc_sweep_arm(1);
	ck_assert_int_eq(array_grow(&v, &cap, 1, sizeof(*v), 8), -ERR_NOMEM);
	alloc_sweep_pause();
	ck_assert_uint_eq(cap, 0);
}

SUITE("array")
