/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and streams: rank N is process N. */
#include "tests/suite.h"
#include "tests/unit/interaction/weave/woven.h"

#include <stdio.h>

static void process(unsigned rank, int64_t t, enum netweave_kind kind, unsigned other)
{
	woven_add(rank, (struct netweave_event){ .kind = kind, .t = t, .other = other + 1 });
}

static void stream(unsigned rank, int64_t t, enum netweave_kind kind, uint64_t end)
{
	woven_add(rank, (struct netweave_event){ .kind = kind, .t = t, .id = 7, .other = end });
}

static void become(unsigned rank, int64_t t, const char *program)
{
	struct netweave_thread to = { .key = rank + 1, .node = 0, .job = "job" };
	struct netweave_event ev = { .kind = NETWEAVE_EXEC, .t = t };

	snprintf(to.label, sizeof(to.label), "%s", program);
	ck_assert_int_eq(netweave_add(woven.weave, &to, &ev, &woven.e), 0);
}

/* Figure 3 of the paper: csh starts date and waits for its end. */
TEST(a_shell_waits_for_the_end_of_its_command)
{
	woven_begin(NETWEAVE_ALL);
	become(0, 0, "csh");
	process(0, 10, NETWEAVE_SPAWN, 2);
	woven_wait(0, 15);
	become(2, 20, "date");
	process(2, 70, NETWEAVE_EXIT, 0);
	process(0, 75, NETWEAVE_REAP, 2);
	process(0, 80, NETWEAVE_EXIT, 0);
	woven_finish();
	ck_assert_str_eq(woven.use, "date:50 csh:25 message:5 ");
	ck_assert(woven.is_unique);
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->unseen, 0);
	woven_end();
}

TEST(a_command_that_ended_before_waits_for_the_shell)
{
	woven_begin(NETWEAVE_ALL);
	process(0, 10, NETWEAVE_SPAWN, 2);
	process(2, 20, NETWEAVE_EXIT, 0);
	woven_wait(0, 50);
	process(0, 60, NETWEAVE_REAP, 2);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank0:40 rank0+wait:10 ");
	woven_end();
}

TEST(the_time_of_a_process_without_an_end_is_unseen)
{
	woven_begin(NETWEAVE_ALL);
	process(0, 10, NETWEAVE_SPAWN, 2);
	woven_wait(0, 15);
	become(2, 20, "date");
	process(0, 75, NETWEAVE_REAP, 2);
	woven_finish();
	ck_assert_str_eq(woven.use, "unseen:55 rank0:10 ");
	ck_assert_uint_eq(netweave_report(woven.weave)->unseen, 1);
	woven_end();
}

/* The parent waits for a message: its child's events stay behind the begin of the child. */
TEST(a_child_is_not_ahead_of_its_begin)
{
	woven_begin(NETWEAVE_ALL);
	woven_wait(1, 0);
	woven_receive(1, 40, 9);
	process(1, 45, NETWEAVE_SPAWN, 3);
	woven_region(3, 50, false);
	woven_send(0, 30, 9); /* late in the log */
	woven_region(3, 60, true);
	process(3, 70, NETWEAVE_EXIT, 0);
	woven_wait(1, 50);
	process(1, 71, NETWEAVE_REAP, 3);
	woven_finish();
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_uint_eq(woven.nunfit, 0);
	ck_assert_int_eq(woven.response, 71);
	woven_end();
}

TEST(reads_end_several_writes_and_writes_need_several_reads)
{
	woven_begin(NETWEAVE_ALL);
	woven_wait(1, 5);
	stream(0, 10, NETWEAVE_WRITE, 5);
	stream(0, 20, NETWEAVE_WRITE, 9);
	stream(1, 30, NETWEAVE_READ, 9);
	stream(0, 40, NETWEAVE_WRITE, 20);
	woven_wait(1, 35);
	stream(1, 50, NETWEAVE_READ, 15);
	woven_wait(1, 55);
	stream(1, 60, NETWEAVE_READ, 20);
	process(1, 70, NETWEAVE_EXIT, 0);
	woven_finish();
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->sends, 3);
	ck_assert_uint_eq(netweave_report(woven.weave)->receives, 3);
	ck_assert_uint_eq(netweave_report(woven.weave)->unsent, 0);
	ck_assert_int_eq(woven.response, 65);
	woven_end();
}

TEST(bytes_from_outside_begin_a_request)
{
	woven_begin(NETWEAVE_REQUEST);
	woven_add(0,
		  (struct netweave_event){
			  .kind = NETWEAVE_READ, .t = 5, .id = 7, .other = 3, .is_unsent = true });
	process(0, 10, NETWEAVE_SPAWN, 2);
	process(2, 20, NETWEAVE_EXIT, 0);
	process(0, 30, NETWEAVE_REAP, 2);
	woven_finish();
	ck_assert_str_eq(woven.names, "message 1 to rank0;");
	ck_assert_uint_eq(netweave_report(woven.weave)->outside, 1);
	ck_assert_int_eq(woven.response, 25);
	woven_end();
}

TEST(ends_of_writes_in_any_order_are_read_in_theirs)
{
	const unsigned n = 1000;

	woven_begin(NETWEAVE_ALL);
	woven_wait(1, 1);
	for (unsigned i = 0; i < n; i++)
		stream(0, 2 + i, NETWEAVE_WRITE, 1 + i * 7919 % n);
	for (unsigned end = 100; end <= n; end += 100) {
		stream(1, 2000 + end, NETWEAVE_READ, end);
		ck_assert_uint_eq(netweave_report(woven.weave)->receives, end);
	}
	woven_finish();
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->unsent, 0);
	woven_end();
}

/* Messages point to their senders, also to those that are over. The address sanitizer sees it. */
TEST(a_process_that_ended_long_ago_has_sent_messages)
{
	const int64_t later = 2 * NETWEAVE_GRACE_NS;

	woven_begin(NETWEAVE_ALL);
	process(3, 1, NETWEAVE_OTHER, 0);
	process(1, 1, NETWEAVE_OTHER, 0);
	stream(0, 5, NETWEAVE_WRITE, 4);
	woven_send(2, 6, 9);
	process(0, 7, NETWEAVE_EXIT, 0);
	process(2, 8, NETWEAVE_EXIT, 0);
	process(3, later, NETWEAVE_OTHER, 0);
	woven_wait(1, later + 1);
	stream(1, later + 2, NETWEAVE_READ, 4);
	woven_wait(1, later + 3);
	woven_receive(1, later + 4, 9);
	woven_finish();
	ck_assert_uint_eq(netweave_report(woven.weave)->receives, 2);
	woven_end();
}

TEST(a_process_that_ended_long_ago_has_waited_for_a_sender)
{
	const int64_t later = 2 * NETWEAVE_GRACE_NS;

	woven_begin(NETWEAVE_ALL);
	process(3, 1, NETWEAVE_OTHER, 0);
	woven_send(0, 5, 9);
	woven_wait(1, 6);
	woven_receive(1, 7, 9);
	process(1, 8, NETWEAVE_EXIT, 0);
	process(3, later, NETWEAVE_OTHER, 0);
	process(3, 2 * later, NETWEAVE_OTHER, 0);
	process(0, 2 * later + 1, NETWEAVE_OTHER, 0);
	woven_finish();
	ck_assert_uint_eq(netweave_report(woven.weave)->receives, 1);
	woven_end();
}

SUITE("interaction/weave")
