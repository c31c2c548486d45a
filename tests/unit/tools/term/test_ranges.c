/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of ranks as users write them. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tools/term/ranges.h"

#include <string.h>

TEST(ranges_have_what_they_name_and_nothing_else)
{
	struct ranges r = { .n = 0 };
	struct err e = { 0 };

	ck_assert(ranges_have(&r, 5)); /* without names: all */
	ck_assert_int_eq(ranges_parse("0-2,7,10-10", &r, &e), 0);
	for (int64_t i = -1; i < 12; i++)
		ck_assert_int_eq(ranges_have(&r, i), (i >= 0 && i <= 2) || i == 7 || i == 10);
}

TEST(nonsense_is_refused_and_changes_nothing)
{
	static const char *const bad[] = { "",
					   "-1",
					   "3-1",
					   "0-",
					   "a",
					   "0,,1",
					   "0,",
					   " 0",
					   "0-1-2",
					   "1.5",
					   "99999999999999999999" };
	struct ranges r = { .n = 0 };
	struct err e = { 0 };
	char many[2 * (RANGES_PIECES_MAX + 1)] = "";

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		ck_assert_int_eq(ranges_parse(bad[i], &r, &e), -ERR_INVALID);
		ck_assert_uint_eq(r.n, 0);
	}
	for (size_t i = 0; i < 2 * RANGES_PIECES_MAX + 1; i++)
		many[i] = i % 2 ? ',' : '1';
	ck_assert_int_eq(ranges_parse(many, &r, &e), -ERR_INVALID); /* one more */
	many[2 * RANGES_PIECES_MAX - 1] = '\0';
	ck_assert_int_eq(ranges_parse(many, &r, &e), 0);
	ck_assert_uint_eq(r.n, RANGES_PIECES_MAX);
}

SUITE("ranges")
