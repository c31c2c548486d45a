/* SPDX-License-Identifier: Apache-2.0 */
/* The two probes of a region, and the regions that begin at a probe. */
#include "common/base/array.h"
#include "common/ring/region.h"
#include "tests/suite.h"

#include <string.h>

static const struct {
	const char *begin, *end;
} ways[REGION_WAYS] = {
	{ "loop_begin", "loop_end" },
	{ "loop_start", "loop_stop" },
	{ "loop_start", "loop_end" },
	{ "loop_enter", "loop_leave" },
	{ "loop_begin_event", "loop_end_event" },
	{ "begin_loop", "end_loop" },
	{ "start_loop", "stop_loop" },
	{ "enter_loop", "leave_loop" },
};

TEST(a_name_gives_both_probes_in_each_way)
{
	for (unsigned i = 0; i < REGION_WAYS; i++) {
		struct region r = { 0 }, back = { 0 };

		ck_assert(region_from_name("loop", i, &r));
		ck_assert_str_eq(r.name, "loop");
		ck_assert_str_eq(r.begin, ways[i].begin);
		ck_assert_str_eq(r.end, ways[i].end);
		ck_assert(region_from_begin(r.begin, i, &back));
		ck_assert(!memcmp(&r, &back, sizeof(r)));
	}
	ck_assert(!region_from_name("loop", REGION_WAYS, &(struct region){ 0 }));
	ck_assert(!region_from_begin("loop_begin", REGION_WAYS, &(struct region){ 0 }));
}

TEST(a_name_of_two_probes_exists_in_way_0_only)
{
	struct region r = { 0 };

	ck_assert(region_from_name("a_1..b2", 0, &r));
	ck_assert_str_eq(r.name, "a_1..b2");
	ck_assert_str_eq(r.begin, "a_1");
	ck_assert_str_eq(r.end, "b2");
	for (unsigned i = 1; i < REGION_WAYS; i++)
		ck_assert(!region_from_name("a_1..b2", i, &r));
}

TEST(names_of_regions_are_names_of_probes)
{
	static const char *const good[] = { "a", "Z9_", "_", "a..b" };
	static const char *const bad[] = { "",	  "9a",	 "a-b",	 "a.b",	    "..",
					   "a..", "..b", "a..9", "a..b..c", "a b" };
	char longest[SEG_PROBE_NAME_BYTES + 1];

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		ck_assert_msg(region_is_name(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_msg(!region_is_name(bad[i]), "%s", bad[i]);
	memset(longest, 'x', sizeof(longest));
	longest[SEG_PROBE_NAME_BYTES - 1 - strlen("_begin")] = 0;
	ck_assert(region_is_name(longest));
	memset(longest, 'x', sizeof(longest));
	longest[SEG_PROBE_NAME_BYTES - strlen("_begin")] = 0;
	ck_assert(!region_is_name(longest));
}

/* Each of them lacks the text before the name, the text after it, or the name. */
TEST(another_probe_begins_no_region)
{
	static const char *const others[] = { "loop",	   "step_end",	  "_begin_",
					      "begin_",	   "_begin",	  "x",
					      "beginloop", "a_loop_here", "" };

	for (unsigned way = 0; way < REGION_WAYS; way++)
		for (size_t i = 0; i < ARRAY_LEN(others); i++)
			ck_assert_msg(!region_from_begin(others[i], way, &(struct region){ 0 }),
				      "%s, %u", others[i], way);
	for (unsigned way = 0; way < REGION_WAYS; way++)
		for (unsigned of = 0; of < REGION_WAYS; of++)
			ck_assert_int_eq(
				region_from_begin(ways[of].begin, way, &(struct region){ 0 }),
				!strcmp(ways[of].begin, ways[way].begin));
}

SUITE("region")
