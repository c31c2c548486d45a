/* SPDX-License-Identifier: Apache-2.0 */
/* Sends that wait for their receiver: rank 0 sends message 9 at 10. */
#include "tests/suite.h"
#include "tests/unit/interaction/weave/woven.h"

/* `to` is busy until 80. */
static void send_to_busy(unsigned to)
{
	woven_region(0, 0, false);
	woven_region(0, 0, true);
	woven_region(to, 0, false);
	woven_send(0, 10, 9);
	woven_region(to, 79, true);
	woven_wait(to, 80);
}

TEST(a_send_waits_for_a_receiver_that_comes_later)
{
	woven_begin(NETWEAVE_ALL);
	send_to_busy(2);
	woven_receive(2, 90, 9);
	woven_sent(0, 95, 9);
	woven_region(0, 100, false);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank2+work:79 message:15 rank0:5 rank2:1 ");
	ck_assert(woven.is_unique);
	ck_assert_uint_eq(netweave_report(woven.weave)->sends, 1);
	woven_end();
}

TEST(a_send_may_return_before_the_message_is_in)
{
	woven_begin(NETWEAVE_ALL);
	send_to_busy(2);
	woven_sent(0, 85, 9);
	woven_receive(2, 90, 9);
	woven_region(0, 99, false);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank2+work:79 rank0:14 message:5 rank2:1 ");
	ck_assert(woven.is_unique);
	woven_end();
}

TEST(a_send_waits_for_a_receiver_on_another_host)
{
	woven_begin(NETWEAVE_ALL);
	send_to_busy(1);
	woven_receive(1, 90, 9);
	woven_sent(0, 95, 9);
	woven_region(0, 100, false);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank1+work:79 message:15 rank0:5 rank1:1 ");
	woven_end();
}

TEST(a_send_that_returns_at_once_waits_for_nothing)
{
	woven_begin(NETWEAVE_ALL);
	send_to_busy(2);
	woven_receive(2, 90, 9);
	woven_region(0, 100, false);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank0:100 ");
	woven_end();
}

TEST(a_send_to_a_receiver_that_waits_is_just_long)
{
	woven_begin(NETWEAVE_ALL);
	woven_region(0, 0, false);
	woven_region(0, 0, true);
	woven_wait(2, 0);
	woven_send(0, 10, 9);
	woven_receive(2, 90, 9);
	woven_sent(0, 95, 9);
	woven_region(0, 100, false);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank0:100 ");
	woven_end();
}

TEST(a_return_in_front_of_the_wait_is_not_its_effect)
{
	woven_begin(NETWEAVE_ALL);
	woven_region(0, 0, false);
	woven_region(0, 0, true);
	woven_region(2, 0, false);
	woven_send(0, 10, 9);
	woven_sent(0, 60, 9);
	woven_wait(2, 80);
	woven_receive(2, 90, 9);
	woven_region(0, 100, false);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank0:100 ");
	woven_end();
}

/* The receiver writes the messages of one call in another order than they were sent. */
TEST(senders_of_one_call_are_all_released)
{
	woven_begin(NETWEAVE_ALL);
	send_to_busy(2);
	woven_send(4, 20, 7);
	woven_sent(0, 90, 9);
	woven_send(0, 91, 8);
	woven_receive(2, 95, 8);
	woven_receive(2, 95, 7);
	woven_receive(2, 95, 9);
	woven_sent(4, 97, 7);
	woven_region(4, 120, false);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank2+work:79 rank4:23 message:17 rank2:1 ");
	ck_assert_uint_eq(woven.nwhole, 1);
	woven_end();
}

/* By its slow clock the receiver waits before the return, and has heard of something behind it. */
TEST(no_clock_makes_a_cause_of_an_effect)
{
	woven_begin(NETWEAVE_ALL);
	woven_region(0, 0, false);
	woven_region(1, 0, false);
	woven_send(0, 10, 9);
	woven_receive(1, 60, 8);
	woven_wait(1, 70);
	woven_receive(1, 75, 9);
	woven_sent(0, 95, 9);
	woven_send(0, 96, 8);
	woven_region(0, 100, true);
	woven_finish();
	ck_assert_uint_eq(woven.nwhole, 1);
	woven_end();
}

TEST(a_sender_does_not_hold_a_call_of_all)
{
	woven_begin(NETWEAVE_ALL);
	send_to_busy(2);
	woven_meet(2, 81, 2, NETWEAVE_GIVES);
	woven_wait(2, 82);
	woven_receive(2, 90, 9);
	woven_sent(0, 91, 9);
	woven_wait(0, 92);
	woven_meet(0, 93, 2, NETWEAVE_TAKES);
	woven_region(0, 100, false);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank2+work:79 message:9 rank0:8 rank2:3 rank0+wait:1 ");
	ck_assert_uint_eq(netweave_report(woven.weave)->partial, 0);
	woven_end();
}

TEST(a_send_without_its_receive_only_ends)
{
	woven_begin(NETWEAVE_ALL);
	send_to_busy(2);
	woven_sent(0, 95, 9);
	woven_region(0, 100, false);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank0:100 ");
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->unreceived, 1);
	woven_end();
}

TEST(a_silent_sender_holds_its_receiver_for_a_bounded_time)
{
	woven_begin(NETWEAVE_ALL);
	send_to_busy(2);
	woven_receive(2, 90, 9);
	ck_assert_uint_eq(netweave_report(woven.weave)->receives, 0);
	woven_region(4, 91 + NETWEAVE_GRACE_NS, false);
	ck_assert_uint_eq(netweave_report(woven.weave)->receives, 1);
	woven_sent(0, 92 + NETWEAVE_GRACE_NS, 9);
	woven_finish();
	ck_assert_uint_eq(woven.nwhole, 1);
	woven_end();
}

TEST_EACH(a_sender_may_have_left_its_step, is_at_once, 2)
{
	woven_begin(NETWEAVE_STEP);
	woven_mark(0, 0, NETWEAVE_BEGIN, 1);
	woven_mark(2, 0, NETWEAVE_BEGIN, 1);
	woven_send(0, 10, 9);
	woven_wait(2, 80);
	woven_sent(0, 85, 9);
	woven_mark(0, is_at_once ? 85 : 100, NETWEAVE_END, 1);
	woven_receive(2, 87, 9);
	woven_mark(2, 88, NETWEAVE_END, 1);
	woven_finish();
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_str_eq(woven.use,
			 is_at_once ? "rank2:81 rank2+wait:7 " : "rank2:80 rank0:15 message:5 ");
	woven_end();
}

TEST(a_receiver_that_works_for_another_step_releases_nothing)
{
	woven_begin(NETWEAVE_STEP);
	woven_mark(2, 0, NETWEAVE_BEGIN, 1);
	woven_mark(0, 0, NETWEAVE_BEGIN, 2);
	woven_send(0, 10, 9);
	woven_wait(2, 80);
	woven_receive(2, 87, 9);
	woven_mark(2, 88, NETWEAVE_END, 1);
	woven_sent(0, 90, 9);
	woven_mark(0, 100, NETWEAVE_END, 2);
	woven_finish();
	ck_assert_str_eq(woven.names, "step 1;step 2;");
	ck_assert_str_eq(woven.use, "rank0:100 ");
	woven_end();
}

SUITE("interaction/weave")
