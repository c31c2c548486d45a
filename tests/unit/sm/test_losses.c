/* SPDX-License-Identifier: Apache-2.0 */
/* Events that were lost on the way: their number, from hosts and through an sm. */
#include "sm/csr/csr.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"
#include "tree/parting.h"

#define EVENT(objects) "thread_has_started_lib_call([" objects "],\"MPI_Send\"): print([$time])"

static struct world w;

static void set_up(void)
{
	world_open(&w);
	lms_start(&w, 4);
}

static void clean_up(void)
{
	world_done(&w);
}

/* An event of host 1 that reports so many lost ones before it. */
static void trigger_after(uint64_t dropped)
{
	static uint64_t seq = 1000;

	lm_send(&w.lm[0], &(struct msg){ .type = MSG_TRIGGERED,
					 .triggered = { .csr = "c_1",
							.tool = 3,
							.seq = ++seq,
							.time_ns = WORLD_WALL,
							.node = "n_1",
							.thread = "t_1_000001",
							.dropped = dropped } });
	world_run(&w, 5 * MS);
}

static void lose(size_t i, uint64_t dropped)
{
	lm_send(&w.lm[i], &(struct msg){ .type = MSG_LOSSES, .losses = { "c_1", dropped, false } });
	world_run(&w, 5 * MS);
}

TEST(sm_forwards_the_drop_count_of_an_event)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001"), 0);
	trigger_after(0);
	ck_assert_uint_eq(w.top.dropped, 0);
	trigger_after(5);
	ck_assert_uint_eq(w.top.triggers, 2);
	ck_assert_uint_eq(w.top.dropped, 5);
	trigger_after(0);
	ck_assert_uint_eq(w.top.dropped, 5); /* of all together */
}

TEST(an_event_that_is_lost_counts_with_those_before_it)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001"), 0);
	top_stop(&w);
	trigger_after(5);
	trigger_after(0);
	ck_assert_uint_eq(world_counts(&w).dropped, 2);
	top_start(&w);
	world_run(&w, 12 * SEC);
	ck_assert_uint_eq(w.top.lost, 5 + 2);
}

TEST(losses_of_hosts_go_up_with_the_next_event)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	lose(0, 3);
	lose(1, 4);
	trigger_after(2);
	ck_assert_uint_eq(w.top.dropped, 3 + 4 + 2);
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(w.top.losses, 0); /* they were reported */
}

TEST(a_host_cannot_report_more_than_the_most)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	lose(0, UINT64_MAX);
	lose(1, UINT64_MAX);
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(w.top.losses, 1);
	ck_assert_uint_ge(w.top.lost, PARTING_LOST_MAX);
	ck_assert_uint_le(w.top.lost, 2 * PARTING_LOST_MAX);
	w.top.lost = 0;
	w.lm[0].b.lost = UINT64_MAX;
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_1" } }), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.lasts, 1);
	ck_assert_uint_ge(w.top.lost, PARTING_LOST_MAX);
	ck_assert_uint_le(w.top.lost, 2 * PARTING_LOST_MAX);
}

TEST(a_host_that_is_forgotten_is_not_awaited_by_a_disarm)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001,p_3_000001"), 0);
	w.lm[0].b.lost = 3;
	w.lm[1].b.no_part = w.lm[2].b.no_part = true;
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_1" } }), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.lasts, 0);
	lm_stop(&w, 1);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.lasts, 0); /* the third may still answer */
	lm_stop(&w, 2);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.lasts, 1);
	ck_assert_uint_eq(w.top.lost, 3);
}

/* An sm that was started again does not know where a counter is: each host is asked. */
TEST(an_sm_that_was_started_again_asks_all_hosts_about_a_counter)
{
	top_ask(&w, ":omig_pa_create([p_2_000001],pa_cl_1)", SEC);
	for (size_t i = 0; i < LMS; i++)
		ck_assert_uint_eq(w.lm[i].b.requests, i == 1);
	world_stop_sm(&w);
	world_start_sm(&w);
	world_run(&w, 30 * SEC);
	for (size_t i = 0; i < LMS; i++) {
		ck_assert(w.lm[i].b.is_up);
		w.lm[i].b.requests = 0;
	}
	top_ask(&w, ":pa_counter_read([pa_cl_1])", SEC);
	for (size_t i = 0; i < LMS; i++)
		ck_assert_uint_eq(w.lm[i].b.requests, 1);
}

SUITE_WITH("sm losses", set_up, clean_up)
