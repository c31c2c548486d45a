/* SPDX-License-Identifier: Apache-2.0 */
/* Plain values of a link that come after their read. */
#include "common/flow/batch/batch.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/engine/one_world.h"
#include "tests/unit/common/flow/graph/made.h"

static void load(enum agg_kind agg, enum flow_since since)
{
	struct flow_graph *g = flow_graph_new(1);

	made_result(g, 0,
		    made_link_in(g, (struct flow_link){ .name = "v",
							.domain = FLOW_READ,
							.fold = { .agg = agg, .since = since },
							.behind = 1 }));
	world_load(&w, g);
}

static void take(int64_t read, double v, uint32_t flags)
{
	struct flow_token t = flow_token_make(read, v, 0.5, START + read * SECOND);
	const struct flow_batch b = {
		.measurement = 1, .link = "v", .read = read, .domain = FLOW_READ, .n = 1, .t = &t
	};

	t.flags |= flags;
	ck_assert_int_eq(flow_take(w.f, &b, NULL), 0);
}

static void gives(int64_t read, double v, uint32_t k, uint32_t flags)
{
	const struct flow_token *t;
	char text[FLOW_FLAGS_TEXT_BYTES];

	world_read(&w, 1, read);
	t = world_last(&w, 1, 0);
	ck_assert_int_eq(t->key, read);
	ck_assert_msg(isnan(v) ? isnan(t->value) : t->value == v, "read %d: %g, not %g", (int)read,
		      t->value, v);
	ck_assert_uint_eq(t->k, k);
	ck_assert_uint_eq(t->n, 1);
	ck_assert_msg(t->flags == flags, "read %d: %s", (int)read,
		      flow_flags_print(text, t->flags));
}

TEST(a_late_gain_is_in_the_next_read)
{
	load(AGG_SUM, FLOW_SINCE_LAST);
	take(1, 3, 0);
	gives(1, 3, 1, 0);
	gives(2, NAN, 0, FLOW_PARTIAL | FLOW_MISSING);
	take(2, 5, 0);
	take(2, 5, 0); /* repeated */
	take(3, 7, 0);
	gives(3, 12, 1, FLOW_LATE);
	ck_assert_double_eq(world_last(&w, 1, 0)->error, 1);
	ck_assert_int_eq(world_last(&w, 1, 0)->oldest, START + 2 * SECOND);
	ck_assert_int_eq(world_last(&w, 1, 0)->newest, START + 3 * SECOND);
	gives(4, NAN, 0, FLOW_PARTIAL | FLOW_MISSING);
	take(4, 11, 0); /* and nothing of read 5 */
	gives(5, 11, 0, FLOW_PARTIAL | FLOW_LATE);
	ck_assert_uint_eq(world_counts(&w, 1, 0).late, 2);
	ck_assert_uint_eq(world_counts(&w, 1, 0).doubles, 1);
}

TEST(of_two_reads_the_least_or_greatest_stays)
{
	load(AGG_MAX, FLOW_SINCE_LAST);
	world_read(&w, 1, 1);
	take(1, 5, 0);
	take(2, 3, 0);
	gives(2, 5, 1, FLOW_LATE);
	flow_remove(w.f, 1);
	load(AGG_MIN, FLOW_SINCE_LAST);
	world_read(&w, 1, 1);
	take(1, 5, 0);
	take(2, 3, 0);
	gives(2, 3, 1, FLOW_LATE);
}

TEST(none_yet_token_adds_no_value_to_a_sum)
{
	load(AGG_SUM, FLOW_SINCE_LAST);
	take(1, NAN, FLOW_NONE_YET);
	gives(1, NAN, 1, FLOW_NONE_YET | FLOW_NAN);
	world_read(&w, 1, 2);
	take(3, 4, 0);
	gives(3, 4, 1, 0);
}

TEST(reads_that_were_left_out_are_in_the_next)
{
	load(AGG_SUM, FLOW_SINCE_LAST);
	take(1, 1, 0);
	take(2, 2, 0);
	take(3, 4, 0);
	gives(3, 7, 1, FLOW_LATE);
}

TEST(a_late_value_of_its_own_read_is_dropped)
{
	load(AGG_SUM, FLOW_SINCE_START);
	world_read(&w, 1, 1);
	take(1, 5, 0);
	take(2, 3, 0);
	gives(2, 3, 1, 0);
	flow_remove(w.f, 1);
	load(AGG_MEAN, FLOW_SINCE_LAST); /* a mean of two means is none */
	world_read(&w, 1, 1);
	take(1, 5, 0);
	take(2, 3, 0);
	gives(2, 3, 1, 0);
	ck_assert_uint_eq(world_counts(&w, 1, 0).late, 1);
}

SUITE_WITH("late", set_up, clean_up)
