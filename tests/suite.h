/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main() of a test program: SUITE("map") runs each TEST() of it, by file and line. Also the
 * seed of property tests, printed so that a failure can be repeated with OMIG_TEST_SEED.
 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include "common/base/array.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Check records the place of each successful assertion, to report after a crash how far the test
 * had run. In a loop of a million that is most of the test's time: here it is done once for each
 * place.
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

struct suite_test {
	const TTest *test;
	bool is_bare;
	int runs;
};

/* The tests of a program: the linker gathers them, and defines these where there is one. */
extern const struct suite_test *const __start_suite_tests[] __attribute__((weak));
extern const struct suite_test *const __stop_suite_tests[] __attribute__((weak));

#define SUITE_TEST_(NAME, BARE, INDEX, RUNS)                                        \
	static void NAME##_fn(int INDEX CK_ATTRIBUTE_UNUSED);                       \
	static const TTest NAME##_test = { #NAME, NAME##_fn, __FILE__, __LINE__ };  \
	static const struct suite_test NAME##_entry = { &NAME##_test, BARE, RUNS }; \
	static const struct suite_test *const NAME##_at                             \
		__attribute__((section("suite_tests"), used)) = &NAME##_entry;      \
	static void NAME##_fn(int INDEX CK_ATTRIBUTE_UNUSED)

/*
 * TEST(statement_that_can_be_false) { ... }; a bare test runs without the fixture of SUITE_WITH().
 * TEST_EACH runs `n` times, each with its index from 0.
 */
#define TEST(NAME) SUITE_TEST_(NAME, false, i_, 1)
#define TEST_EACH(NAME, index, n) SUITE_TEST_(NAME, false, index, n)
#define BARE_TEST(NAME) SUITE_TEST_(NAME, true, i_, 1)

static inline int suite_order(const void *a, const void *b)
{
	const TTest *x = (*(const struct suite_test *const *)a)->test;
	const TTest *y = (*(const struct suite_test *const *)b)->test;
	int file = strcmp(x->file, y->file);

	return file ? file : x->line - y->line;
}

static inline void suite_gather(TCase *fixed, TCase *bare)
{
	size_t n = (size_t)(__stop_suite_tests - __start_suite_tests);
	const struct suite_test **tests = calloc(n + 1, sizeof(*tests));

	if (!tests)
		abort();
	for (size_t i = 0; i < n; i++)
		tests[i] = __start_suite_tests[i];
	qsort(tests, n, sizeof(*tests), suite_order);
	for (size_t i = 0; i < n; i++)
		tcase_add_loop_test(tests[i]->is_bare ? bare : fixed, tests[i]->test, 0,
				    tests[i]->runs);
	free(tests);
}

/*
 * set_up and clean_up (may be NULL) run around each test, in its process. `more` are tests of
 * START_TEST(), which other files may list.
 */
static inline int suite_run_with(const char *name, void (*set_up)(void), void (*clean_up)(void),
				 const TTest *const *more, size_t n)
{
	TCase *fixed = tcase_create(name), *bare = tcase_create(name);
	Suite *s = suite_create(name);
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(fixed, set_up, clean_up);
	suite_gather(fixed, bare);
	for (size_t i = 0; i < n; i++)
		tcase_add_test(fixed, more[i]);
	suite_add_tcase(s, fixed);
	suite_add_tcase(s, bare);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int suite_run(const char *name, void (*set_up)(void), void (*clean_up)(void))
{
	return suite_run_with(name, set_up, clean_up, NULL, 0);
}

static inline uint64_t suite_seed(uint64_t otherwise)
{
	const char *wish = getenv("OMIG_TEST_SEED");
	uint64_t seed = wish ? strtoull(wish, NULL, 0) : otherwise;

	printf("OMIG_TEST_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

/* SUITE_WITH: set_up and clean_up as of suite_run_with(). */
#define SUITE_WITH(name, set_up, clean_up)                \
	int main(void)                                    \
	{                                                 \
		return suite_run(name, set_up, clean_up); \
	}
#define SUITE(name) SUITE_WITH(name, NULL, NULL)

#endif
