/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that the ranks of a world have sent in a time. */
#include "sim/tools/answers.h"
#include "tests/suite.h"

static struct world w;
static struct cluster c;

static void set_up(void)
{
	const struct cluster_conf conf = {
		.sites = 1, .hosts = 2, .levels = 1, .ranks = 1, .are_diskless = true
	};
	struct err e = { 0 };

	ck_assert_int_eq(world_open(&w, suite_seed(1), true, &e), 0);
	ck_assert_msg(cluster_open(&w, &conf, &c, &e) == 0, "%s", e.text);
}

static void clean_up(void)
{
	cluster_close(&c);
	world_close(&w);
}

static void call_at(nsec_t time, int64_t bytes)
{
	struct simproc *p;

	loop_advance(w.loop, time - loop_now(w.loop));
	for (size_t i = 0; (p = cluster_each_rank(&c, &i));)
		simrank_send(p->mpi, bytes, 1);
}

TEST(an_interval_has_the_bytes_sent_in_it)
{
	nsec_t t;

	set_up();
	t = loop_now(w.loop);
	call_at(t + 10, 1);
	call_at(t + 20, 10);
	call_at(t + 30, 100);
	ck_assert_double_eq(answers_sent(&c, "", t, t + 30).bytes, 222);
	ck_assert_double_eq(answers_sent(&c, "", t + 10, t + 29).bytes, 20);
	ck_assert_double_eq(answers_sent(&c, "", t + 30, t + 40).bytes, 0);
	ck_assert_uint_eq(answers_sent(&c, "", t, t + 30).ranks, 2);
	clean_up();
}

/* A bound that is larger than half an interval leaves nothing between its ends. */
TEST(a_time_that_ends_before_it_begins_has_nothing)
{
	nsec_t t;

	set_up();
	t = loop_now(w.loop);
	call_at(t + 10, 1);
	call_at(t + 20, 10);
	ck_assert_double_eq(answers_sent(&c, "", t + 20, t + 10).bytes, 0);
	ck_assert_double_eq(answers_sent(&c, "", t + 30, t).bytes, 0);
	clean_up();
}

SUITE("answers")
