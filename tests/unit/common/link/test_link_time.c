/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon learns mainsm's clock from its parent, and reports it to its branches. */
#include "common/base/limits.h"
#include "tests/suite.h"
#include "tests/unit/common/link/world.h"

static struct world w;

static void set_delay(nsec_t delay, nsec_t jitter)
{
	ck_assert_int_eq(mem_net_set_link(w.net, "top", "leaf",
					  &(struct mem_link){ .delay = delay, .jitter = jitter }),
			 0);
}

/* Hundreds connect at once, and the first answer may wait for all of them. */
TEST(the_first_estimate_of_the_clock_is_soon_improved)
{
	world_open(&w, ROLE_LM);
	set_delay(40 * MS, 0);
	world_connect(&w, "lm");
	loop_advance(w.loop, 300 * MS);
	ck_assert_int_ge(timebase_error(&w.leaf_time, loop_now(w.loop)), 40 * MS);
	set_delay(MS, 0);
	loop_advance(w.loop, 700 * MS);
	ck_assert_int_le(timebase_error(&w.leaf_time, loop_now(w.loop)), 2 * MS);
	world_done(&w);
}

TEST(the_clock_offset_stays_within_its_bound_under_uneven_delay)
{
	nsec_t truth, error, sum = 0;
	struct link_stats s;

	world_open(&w, ROLE_LM);
	set_delay(MS, 200 * MS); /* each frame another delay: ways forth and back differ */
	world_connect(&w, "lm");
	loop_advance(w.loop, 2 * SEC);
	truth = w.top_time.offset; /* both ends read one clock: this is the whole offset */
	for (int i = 0; i < 200; i++) {
		loop_advance(w.loop, 40 * SEC);
		link_stats(w.a.link, &s);
		ck_assert_int_ge(s.rtt, 2 * MS);
		ck_assert_int_le(llabs(s.offset - truth), s.offset_error);
		ck_assert_int_le(s.offset_error, s.rtt / 2 + 1);
		error = timebase_error(&w.leaf_time, loop_now(w.loop));
		ck_assert_int_le(llabs(timebase_at(&w.leaf_time, 0) - timebase_at(&w.top_time, 0)),
				 error);
		sum += error;
	}
	/* The best of many samples is kept: half of a mean round trip would be 101 ms. */
	ck_assert_int_lt(sum / 200, 101 * MS);
	world_done(&w);
}

static void top_hears(nsec_t system_time)
{
	nsec_t now = loop_now(w.loop);

	ck_assert_int_eq(timebase_update(&w.top_time, &(struct timebase_sample){ now - MS, now,
										 system_time, 0 }),
			 0);
}

static void leaf_is_right(void)
{
	nsec_t now = loop_now(w.loop);

	ck_assert_int_le(llabs(timebase_at(&w.leaf_time, now) - timebase_at(&w.top_time, now)),
			 timebase_error(&w.leaf_time, now));
}

/* An sm that did not have mainsm's time yet has reported a later time. */
TEST(a_parent_replaces_the_time_that_it_reported_before)
{
	world_open(&w, ROLE_LM);
	timebase_init(&w.top_time, loop_now(w.loop), 1001 * SEC);
	world_connect(&w, "lm");
	loop_advance(w.loop, 100 * MS);
	top_hears(1000 * SEC);
	loop_advance(w.loop, SEC);
	ck_assert_int_lt(timebase_error(&w.leaf_time, loop_now(w.loop)), SEC);
	leaf_is_right();
	world_done(&w);
}

static void hear_of_another_time(nsec_t after)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		world_open(&w, ROLE_LM);
		timebase_init(&w.top_time, loop_now(w.loop), 0);
		top_hears(10000 * SEC);
		world_connect(&w, "lm");
		loop_advance(w.loop, after);
		leaf_is_right();
		top_hears(10000 * SEC + sign * 3600 * SEC);
		loop_advance(w.loop, HEARTBEAT_PERIOD_NS + SEC);
		leaf_is_right();
		world_done(&w);
	}
}

/* For any delay since the last ping of either end. */
TEST(another_time_above_is_heard_of_within_a_heartbeat)
{
	for (nsec_t after = 5 * SEC; after < 130 * SEC; after += 3 * SEC)
		hear_of_another_time(after);
}

static void top_hears_exactly(nsec_t error)
{
	nsec_t now = loop_now(w.loop);

	ck_assert_int_eq(
		timebase_update(&w.top_time, &(struct timebase_sample){ now - MS, now,
									10000 * SEC + now, error }),
		0);
}

static void hear_of_a_better_time(nsec_t after, bool was_known)
{
	world_open(&w, ROLE_LM);
	timebase_init(&w.top_time, loop_now(w.loop), 0);
	if (was_known)
		top_hears_exactly(600 * MS);
	world_connect(&w, "lm");
	loop_advance(w.loop, after);
	ck_assert_int_ge(timebase_error(&w.leaf_time, loop_now(w.loop)), 600 * MS);
	top_hears_exactly(0);
	loop_advance(w.loop, HEARTBEAT_PERIOD_NS + SEC);
	ck_assert_int_le(timebase_error(&w.leaf_time, loop_now(w.loop)), 10 * MS);
	leaf_is_right();
	world_done(&w);
}

/* The sm's link to mainsm was slow at first, and then is fast. */
TEST(a_better_time_above_is_heard_of_within_a_heartbeat)
{
	for (nsec_t after = 5 * SEC; after < 130 * SEC; after += 3 * SEC) {
		hear_of_a_better_time(after, true);
		hear_of_a_better_time(after, false);
	}
}

/* A slightly better time does not make all branches ask again. */
TEST(a_time_that_is_a_little_better_waits_for_the_next_ping)
{
	world_open(&w, ROLE_LM);
	timebase_init(&w.top_time, loop_now(w.loop), 0);
	top_hears_exactly(8 * MS);
	world_connect(&w, "lm");
	loop_advance(w.loop, 14 * SEC); /* the leaf has just asked by itself */
	top_hears_exactly(0);
	loop_advance(w.loop, 8 * SEC);
	ck_assert_int_gt(timebase_error(&w.leaf_time, loop_now(w.loop)), 8 * MS);
	loop_advance(w.loop, MEASURE_PERIOD_NS);
	ck_assert_int_lt(timebase_error(&w.leaf_time, loop_now(w.loop)), 8 * MS);
	world_done(&w);
}

SUITE("link time")
