/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept subscriptions between their source and the parent: openings, acknowledgements, restarts, the
 * end.
 */
#include "tests/suite.h"
#include "tests/unit/eventlog/keep/world.h"

TEST(blocks_go_up_in_order_as_far_as_there_is_room)
{
	uint64_t before;

	open_it(3);
	ck_assert_uint_eq(seen.reported, 1);
	for (int i = 0; i < 40; i++)
		ck_assert_int_eq(append(100 * 1024), 0);
	WAIT_FOR(seen.settled == 40);
	WAIT_FOR(seen.messages == 4); /* of up to five blocks, fewer at the end of a segment */
	ck_assert_uint_ge(seen.blocks, 8);
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_le(seen.blocks, 20);
	ck_assert_uint_eq(seen.stream, 3);
	before = seen.blocks;
	ack(2, seen.place); /* of an opening that is over */
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.blocks, before);
	while (seen.blocks < 40) {
		before = seen.blocks;
		ack(3, seen.place);
		WAIT_FOR(seen.blocks > before);
	}
	ck_assert_uint_eq(seen.events, 400);
	ck_assert_uint_gt(seen.given, 40 * 100 * 1024);
}

TEST(unacknowledged_blocks_are_sent_again_after_the_next_opening)
{
	uint64_t first;

	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	ack(3, seen.place);
	append(100);
	WAIT_FOR(seen.blocks == 2);
	first = seen.events;
	keeps_link_down(ks);
	append(100);
	seen.due = 1;
	open_it(4);
	WAIT_FOR(seen.blocks == 4);
	ck_assert_uint_eq(seen.events, first + 20);
	ck_assert_uint_eq(seen.stream, 4);
	/* the same opening again has no effect */
	open_it(4);
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.blocks, 4);
}

TEST(a_sender_that_failed_begins_again)
{
	seen.refuses = true;
	open_it(3);
	append(100);
	WAIT_FOR(seen.settled == 1);
	WAIT_FOR(seen.given);
	seen.refuses = false;
	open_it(5);
	WAIT_FOR(seen.blocks == 1);
}

TEST(a_subscription_and_its_blocks_outlive_the_daemon)
{
	struct keep *k;
	struct err e = { 0 };

	open_it(3);
	append(100);
	append(100);
	WAIT_FOR(seen.blocks == 2);
	keeps_free(ks);
	start();
	ck_assert_uint_eq(keeps_check(ks, "run7", OWNER, &k, &e), 0);
	ck_assert_uint_eq(keep_request(k)->lease_s, 600);
	ck_assert_int_eq(keeps_check(ks, "run7", "omig:tool-observe//v", &k, &e), -ERR_DENIED);
	ck_assert_uint_ge(seen.given, 4 * 164); /* both were given, and found at the start */
	append(100);
	seen.due = 0;
	seen.blocks = 0;
	open_it(1);
	WAIT_FOR(seen.blocks == 3);
}

TEST(an_end_is_reported_when_all_blocks_are_acknowledged)
{
	open_it(3);
	keep_feed(run7(), 1);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	open_as("run7", OWNER, 3, MSG_KEEP_DROP_OLDEST, true);
	ack(3, seen.place);
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.ends, 0); /* another source makes more */
	append(100);
	keep_feed(run7(), -1);
	WAIT_FOR(seen.blocks == 2);
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.ends, 0); /* not acknowledged */
	ack(3, seen.place);
	WAIT_FOR(seen.ends == 1);
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.ends, 1);
	/* and again after a new opening: the first may be lost */
	open_as("run7", OWNER, 4, MSG_KEEP_DROP_OLDEST, true);
	WAIT_FOR(seen.ends == 2);
}

TEST(an_ended_subscription_leaves_nothing_behind)
{
	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	ck_assert(is_there("run7.sub") && is_there("run7"));
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_END,
				      .events_end = { "run7", "omig:tool-observe//v" } });
	loop_wait(l, 10 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.gone, 0); /* not its owner */
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_END, .events_end = { "run7", OWNER } });
	WAIT_FOR(seen.gone == 1);
	ck_assert_ptr_null(keeps_find(ks, "run7"));
	ck_assert(!is_there("run7.sub") && !is_there("run7"));
	seq = 0;
	seen.due = 0;
	open_it(9);
	append(100);
	WAIT_FOR(seen.blocks == 2);
}

TEST(a_subscription_opened_in_the_turn_of_its_end_is_new)
{
	struct keep *k;
	struct err e = { 0 };

	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_END, .events_end = { "run7", OWNER } });
	open_it(4);
	ck_assert_uint_eq(seen.gone, 1);
	ck_assert_msg(!keeps_check(ks, "run7", OWNER, &k, &e), "%s", e.text);
	seq = seen.due = 0;
	append(100);
	WAIT_FOR(seen.blocks == 2);
	ck_assert_uint_eq(seen.stream, 4);
	ck_assert(is_there("run7.sub"));
}

static struct keeps_stats stats(void)
{
	struct keeps_stats s;

	keeps_stats(ks, &s);
	return s;
}

TEST(subscriptions_and_their_blocks_are_counted)
{
	ck_assert_uint_eq(stats().n, 0);
	ck_assert(keeps_are_empty(ks));
	open_it(0);
	open_as("run8", OWNER, 0, MSG_KEEP_DROP_OLDEST, false);
	ck_assert_uint_eq(stats().n, 2);
	ck_assert_uint_eq(stats().open, 0);
	open_it(3);
	open_as("run8", OWNER, 7, MSG_KEEP_DROP_OLDEST, false);
	ck_assert_uint_eq(stats().open, 2);
	WAIT_FOR(keeps_are_empty(ks));
	append(1000);
	WAIT_FOR(seen.settled == 1);
	ck_assert(!keeps_are_empty(ks));
	ck_assert_uint_ge(stats().disk_bytes, 1000);
	ck_assert_uint_eq(stats().lost_events, 0);
	WAIT_FOR(seen.blocks == 1);
	ack(3, seen.place);
	WAIT_FOR(keeps_are_empty(ks));
	keeps_link_down(ks);
	ck_assert_uint_eq(stats().open, 0);
	ck_assert_uint_eq(stats().n, 2);
	for (int i = 0; i < 100; i++) /* 10 MB, of which 8 MiB are kept */
		append(100 * 1024);
	WAIT_FOR(seen.settled == 101);
	ck_assert_uint_le(stats().disk_bytes, 9 * MIB);
	ck_assert(stats().disk_bytes > 4 * MIB || stats().lost_events > 0);
}

/* The daemon ends: those above need not wait for empty subscriptions. */
TEST(the_end_of_empty_subscriptions_is_reported)
{
	open_it(3);
	append(1000);
	WAIT_FOR(seen.blocks == 1);
	keeps_say_end(ks);
	ck_assert_uint_eq(seen.ends, 0);
	ack(3, seen.place);
	WAIT_FOR(keeps_are_empty(ks));
	keeps_say_end(ks);
	ck_assert_uint_eq(seen.ends, 1);
	ck_assert_uint_eq(seen.stream, 3);
}

/* It was refused, so that no events can follow: its end is reported at once. */
TEST(the_end_of_a_refused_subscription_is_reported)
{
	struct msg m = { .type = MSG_EVENTS_OPEN,
			 .events_open = { "run9", OWNER, 5, 4, MSG_KEEP_STOP, 1, 600, false } };

	keeps_take(ks, &m);
	ck_assert_ptr_null(keeps_find(ks, "run9"));
	ck_assert_uint_eq(seen.ends, 0);
	m.events_open.ending = true;
	m.events_open.stream = 0;
	keeps_take(ks, &m);
	ck_assert_uint_eq(seen.ends, 0);
	m.events_open.stream = 5;
	keeps_take(ks, &m);
	ck_assert_uint_eq(seen.ends, 1);
	ck_assert_uint_eq(seen.stream, 5);
}

SUITE_WITH("keeps", set_up, clean_up)
