/* SPDX-License-Identifier: Apache-2.0 */
/* When reads are closed: whole ones at once, others when their grace is over. */
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/flow/graph/graph_limits.h"
#include "common/loop/loop.h"
#include "tests/suite.h"
#include "tree/read_clock.h"

#define SECOND NSEC_PER_SEC
#define GRACE (SECOND / 2)

static struct loop *loop;
static struct read_clock reads;
static int64_t whole; /* up to this read */
static struct buf closed; /* each read, with ! for a late one */
static bool has_ended;

static nsec_t now(void *arg)
{
	return loop_now(loop);
}

static nsec_t grace(void *arg)
{
	return GRACE;
}

static bool is_whole(void *arg, int64_t read)
{
	return read <= whole;
}

static bool on_close(void *arg, bool is_late)
{
	buf_printf(&closed, "%lld%s ", (long long)reads.read, is_late ? "!" : "");
	if (has_ended)
		read_clock_stop(&reads);
	return true;
}

static void begin(nsec_t every, bool is_early)
{
	ck_assert_int_eq(read_clock_init(&reads, &(struct read_clock_conf){ .loop = loop,
									    .now = now,
									    .grace = grace,
									    .is_early = is_early,
									    .is_whole = is_whole,
									    .close = on_close }),
			 0);
	read_clock_start(&reads, now(NULL), every, 0);
	read_clock_tick(&reads);
}

static void set_up(void)
{
	loop = loop_new_virtual();
	closed = BUF_INIT(1000);
	whole = 0;
	has_ended = false;
}

static void clean_up(void)
{
	read_clock_done(&reads);
	loop_free(loop);
	buf_done(&closed);
}

static void run(nsec_t t)
{
	loop_advance(loop, t);
}

static void are_closed(const char *what)
{
	ck_assert_str_eq(buf_str(&closed), what);
	buf_clear(&closed);
}

TEST(a_whole_read_is_closed_at_its_end)
{
	begin(SECOND, false);
	whole = 2;
	read_clock_tick(&reads);
	are_closed("");
	run(SECOND);
	are_closed("1 ");
	ck_assert_int_eq(reads.read_at, reads.start + SECOND);
	run(SECOND);
	are_closed("2 ");
}

TEST(an_early_one_is_closed_before_its_end)
{
	begin(SECOND, true);
	whole = 9;
	ck_assert_int_eq(read_clock_newest(&reads), 1);
	read_clock_tick(&reads);
	are_closed("1 ");
}

TEST(a_read_without_some_is_late_when_its_grace_is_over)
{
	begin(SECOND, false);
	run(SECOND + GRACE / 2);
	are_closed("");
	run(GRACE / 2);
	are_closed("1! ");
	run(SECOND);
	are_closed("2! ");
	whole = 3;
	run(SECOND);
	are_closed("3 ");
}

TEST(after_a_long_sleep_old_reads_are_left_out)
{
	begin(SECOND, false);
	read_clock_start(&reads, now(NULL) - 100 * SECOND - GRACE, SECOND, 0);
	read_clock_tick(&reads);
	are_closed("100! ");
	read_clock_start(&reads, now(NULL) - FLOW_READS_OPEN * SECOND - GRACE, SECOND,
			 FLOW_READS_OPEN - 2);
	read_clock_tick(&reads);
	ck_assert_int_eq(reads.read, FLOW_READS_OPEN);
}

TEST(a_read_by_request_has_the_time_of_the_request)
{
	nsec_t t;

	begin(0, false);
	run(SECOND);
	are_closed("");
	t = now(NULL);
	read_clock_ask(&reads, 5, t);
	are_closed("");
	whole = 5;
	run(1);
	are_closed("5 ");
	ck_assert_int_eq(reads.read_at, t);
	ck_assert_int_eq(reads.asked, 0);
}

TEST(the_next_request_closes_the_one_that_is_open)
{
	begin(0, false);
	read_clock_ask(&reads, 1, now(NULL) + 1000 * SECOND);
	run(GRACE / 2);
	read_clock_ask(&reads, 2, now(NULL) + 1000 * SECOND);
	are_closed("1! ");
	run(GRACE + 1);
	are_closed("2! ");
}

TEST(stopped_reads_are_not_closed)
{
	begin(SECOND, false);
	has_ended = true;
	run(10 * SECOND);
	are_closed("1! ");
}

SUITE_WITH("tree read_clock", set_up, clean_up)
