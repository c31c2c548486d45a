/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements of the judge on the reads of a measurement, by the clocks of hosts. */
#include "sim/judge/series.h"
#include "sim/world/clock.h"
#include "tests/suite.h"

#include <inttypes.h>
#include <stdio.h>

#define MS NSEC_PER_MSEC
#define STEP (400 * MS)

static struct world w;
static struct cluster c;
static struct series s;

static void set_delay(nsec_t delay)
{
	const struct mem_link how = { .delay = delay };

	ck_assert_int_eq(mem_net_set_link(w.net, NULL, NULL, &how), 0);
}

/* A host that receives mainsm's time over a line with that delay. */
static void set_up(nsec_t delay)
{
	const struct cluster_conf conf = { .sites = 1,
					   .hosts = 1,
					   .levels = 1,
					   .ranks = 1,
					   .delay = delay,
					   .are_diskless = true };
	struct err e = { 0 };

	ck_assert_int_eq(world_open(&w, suite_seed(1), true, &e), 0);
	ck_assert_msg(cluster_open(&w, &conf, &c, &e) == 0, "%s", e.text);
	ck_assert_msg(cluster_start(&c, &e) == 0, "%s", e.text);
	loop_advance(w.loop, 20 * NSEC_PER_SEC);
	series_begin(&s, &c, 0);
	series_go(&s);
	s.slow_from = loop_now(w.loop) + 3600 * NSEC_PER_SEC;
}

static void clean_up(void)
{
	series_done(&s);
	cluster_close(&c);
	world_close(&w);
}

static void call(int64_t bytes)
{
	struct simproc *p;

	for (size_t i = 0; (p = cluster_each_rank(&c, &i));)
		simrank_send(p->mpi, bytes, 1);
}

/* A read of one process ends here. */
static void read_is(int read, int64_t bytes)
{
	nsec_t t = simtop_time(c.top);
	char text[200];

	snprintf(text, sizeof(text),
		 "3,%d,%" PRId64 ",[\"\",%d,%" PRId64 ".0,0.0,%" PRId64 ",%" PRId64 ",%" PRId64
		 ",1,1,\"\"]",
		 read, t, read, bytes, t, t, t);
	series_take(&s, text);
}

/* The second call is made in the second interval, and is reported with the third. */
static void play(void)
{
	call(1);
	loop_advance(w.loop, STEP);
	read_is(1, 1);
	loop_advance(w.loop, STEP - 20 * MS);
	call(10);
	loop_advance(w.loop, 20 * MS);
	read_is(2, 0);
	loop_advance(w.loop, STEP);
	read_is(3, 10);
}

TEST(a_clock_that_is_right_does_not_excuse_a_call)
{
	set_up(MS);
	play();
	series_judge(&s);
	ck_assert_msg(strstr(w.broken, "INV-38: read 2 has 0 bytes"), "%s", w.broken);
	clean_up();
}

TEST(a_rough_clock_excuses_what_its_bound_covers)
{
	set_up(600 * MS);
	play();
	series_judge(&s);
	ck_assert_str_eq(w.broken, "");
	clean_up();
}

/* Better samples arrived after the reads. */
TEST(a_clock_excuses_as_it_was_when_it_was_read)
{
	set_up(600 * MS);
	play();
	set_delay(MS);
	loop_advance(w.loop, 200 * NSEC_PER_SEC);
	series_judge(&s);
	ck_assert_str_eq(w.broken, "");
	clean_up();
}

SUITE("series")
