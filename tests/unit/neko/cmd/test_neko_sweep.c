/* SPDX-License-Identifier: Apache-2.0 */
/* Values of --set and --sweep: lists, ranges of numbers and of times, combinations, mistakes. */
#include "tests/suite.h"
#include "common/base/array.h"
#include "neko/cmd/neko_sweep.h"

#include <string.h>

/* Returns all points as "a b|a c", or the error. */
static const char *points(const char *const *sweep, size_t n)
{
	static char text[4096];
	struct neko_sweep s = { 0 };
	struct err e = { 0 };
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		if (neko_sweep_add(&s, sweep[i], &e))
			snprintf(text, sizeof(text), "%s", e.text);
	for (size_t p = 0; !e.code && p < neko_sweep_points(&s) && at + 200 < sizeof(text); p++)
		for (unsigned k = 0; k < s.n; k++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s",
					       k   ? " "
					       : p ? "|"
						   : "",
					       neko_sweep_value(&s, p, k));
	neko_sweep_done(&s);
	return text;
}

TEST(lists_and_ranges_are_values)
{
	static const char *const row[][2] = {
		{ "k=10ms,20ms,50ms", "10ms|20ms|50ms" },
		{ "k=10ms..50ms:20ms", "10ms|30ms|50ms" },
		{ "k=900ms..1s:50ms", "900ms|950ms|1s" },
		{ "k=0.1..0.5:0.1", "0.1|0.2|0.3|0.4|0.5" },
		{ "k=2..5", "2|3|4|5" },
		{ "k=-1..1", "-1|0|1" },
		{ "k=1..2:5", "1" },
		{ "k=7", "7" },
		{ "k=uniform(1ms, 2ms),exponential(3ms)", "uniform(1ms, 2ms)|exponential(3ms)" },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		ck_assert_str_eq(points(&row[i][0], 1), row[i][1]);
}

TEST(several_keys_are_all_combinations)
{
	static const char *const two[] = { "a=1,2", "b=x,y,z" };

	ck_assert_str_eq(points(two, 2), "1 x|1 y|1 z|2 x|2 y|2 z");
}

TEST(mistakes_are_named)
{
	static const char *const row[][2] = {
		{ "k", "is expected" },
		{ "=1", "is expected" },
		{ "k=", "is expected" },
		{ "k=1,,2", "an empty value" },
		{ "k=1,", "an empty value" },
		{ "k=5..1", "A <= B" },
		{ "k=1..5:0", "a step above 0" },
		{ "k=1..5:-1", "a step above 0" },
		{ "k=1ms..5:1", "A..B:STEP" },
		{ "k=1..nan", "A..B:STEP" },
		{ "k=..", "A..B:STEP" },
		{ "k=1:2..3", "A..B:STEP" },
		{ "k=1..1001", "1001 values of k, at most 1000" },
		{ "k=0..1e300:1e-300", "values of k, at most 1000" },
	};
	static const char *const twice[] = { "k=1", "k=2" };
	static const char *const many[] = { "a=1..100", "b=1..11" };

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		ck_assert_msg(strstr(points(&row[i][0], 1), row[i][1]) != NULL, "%s: %s", row[i][0],
			      points(&row[i][0], 1));
	ck_assert_ptr_nonnull(strstr(points(twice, 2), "k is given twice"));
	ck_assert_ptr_nonnull(strstr(points(many, 2), "more than 1000 runs"));
}

TEST(runs_are_possible_up_to_the_limit)
{
	static const char *const most[] = { "a=1..100", "b=1..10" };
	struct neko_sweep s = { 0 };

	ck_assert_int_eq(neko_sweep_add(&s, most[0], NULL) | neko_sweep_add(&s, most[1], NULL), 0);
	ck_assert_uint_eq(neko_sweep_points(&s), NEKO_SWEEP_POINTS_MAX);
	ck_assert_str_eq(neko_sweep_value(&s, NEKO_SWEEP_POINTS_MAX - 1, 0), "100");
	neko_sweep_done(&s);
}

TEST(settings_have_a_key_and_a_value)
{
	static const char *const bad[] = { "k", "=v", "k=", "" };
	struct neko_sweep s = { 0 };

	ck_assert_int_eq(neko_sweep_set(&s, "stat.stop=ci(0.95) < 5%", NULL), 0);
	ck_assert_str_eq(s.set[0].key, "stat.stop");
	ck_assert_str_eq(s.set[0].value, "ci(0.95) < 5%");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_int_eq(neko_sweep_set(&s, bad[i], NULL), -ERR_INVALID);
	while (s.nset < NEKO_SETS_MAX)
		ck_assert_int_eq(neko_sweep_set(&s, "a=b", NULL), 0);
	ck_assert_int_eq(neko_sweep_set(&s, "a=b", NULL), -ERR_LIMIT);
	neko_sweep_done(&s);
}

SUITE("neko sweep")
