/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main() of a test program: SUITE("map", first_test, second_test). Also
 * the seed of property tests, printed so that a failure can be repeated with
 * OMIG_TEST_SEED.
 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include "common/base/array.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Check writes down the place of each assertion that holds, to say after a crash how far the test
 * came. In a loop of a million that is most of what the test does: here, once for each place.
 */
#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                                              \
	do {                                                                                  \
		static int suite_marked_;                                                     \
		if (!(expr))                                                                  \
			_ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", \
					  ##__VA_ARGS__);                                     \
		if (!__atomic_exchange_n(&suite_marked_, 1, __ATOMIC_RELAXED))                \
			_mark_point(__FILE__, __LINE__);                                      \
	} while (0)

/* set_up and clean_up (may be NULL) run around each test, in its process. */
static inline int suite_run_with(const char *name, void (*set_up)(void), void (*clean_up)(void),
				 const TTest *const *tests, size_t n)
{
	Suite *s = suite_create(name);
	TCase *c = tcase_create(name);
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, set_up, clean_up);
	for (size_t i = 0; i < n; i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline uint64_t suite_seed(uint64_t otherwise)
{
	const char *wish = getenv("OMIG_TEST_SEED");
	uint64_t seed = wish ? strtoull(wish, NULL, 0) : otherwise;

	printf("OMIG_TEST_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

/* SUITE_WITH: set_up and clean_up as of suite_run_with(). */
#define SUITE_WITH(name, set_up, clean_up, ...)                                         \
	int main(void)                                                                  \
	{                                                                               \
		const TTest *const tests[] = { __VA_ARGS__ };                           \
		return suite_run_with(name, set_up, clean_up, tests, ARRAY_LEN(tests)); \
	}
#define SUITE(name, ...) SUITE_WITH(name, NULL, NULL, __VA_ARGS__)

#endif
