/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of recorded threads have known paths, and those of random ones are valid. */
#include "common/base/rng.h"
#include "tests/suite.h"
#include "tests/unit/interaction/weave/woven.h"

#include <stdio.h>
#include <string.h>

#define SECOND NSEC_PER_SEC
#define BOTH (NETWEAVE_GIVES | NETWEAVE_TAKES)
#define THREADS 5

TEST(a_thread_waits_for_a_message_that_is_sent_later)
{
	woven_begin(NETWEAVE_ALL);
	woven_region(0, 0, false);
	woven_wait(1, 0);
	woven_region(0, 80, true);
	woven_send(0, 80, 9);
	woven_receive(1, 90, 9);
	woven_region(1, 95, false);
	woven_region(1, 99, true);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank0+work:80 message:10 rank1:5 rank1+work:4 ");
	ck_assert_int_eq(woven.response, 99);
	ck_assert(woven.is_unique);
	woven_end();
}

TEST(a_message_waits_for_a_thread_that_is_busy)
{
	woven_begin(NETWEAVE_ALL);
	woven_send(0, 0, 9);
	woven_region(1, 0, false);
	woven_region(1, 80, true);
	woven_wait(1, 80);
	woven_receive(1, 90, 9);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank1+work:80 rank1+wait:10 ");
	ck_assert(woven.is_unique);
	woven_end();
}

TEST(a_call_that_waits_for_several_waits_for_the_last_one)
{
	woven_begin(NETWEAVE_ALL);
	woven_send(0, 0, 8);
	woven_region(2, 0, true);
	woven_wait(1, 10);
	woven_send(2, 50, 9);
	woven_send(0, 20, 7);
	woven_receive(1, 60, 9);
	woven_receive(1, 61, 8);
	woven_receive(1, 62, 7);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank2:50 message:12 ");
	ck_assert(woven.is_unique);
	woven_end();
}

TEST(a_barrier_waits_for_the_last_rank)
{
	woven_begin(NETWEAVE_ALL);
	for (unsigned i = 0; i < 4; i++)
		woven_region(i, 0, false);
	woven_wait(0, 10);
	woven_wait(3, 11);
	woven_wait(1, 12);
	woven_wait(2, 70);
	for (unsigned i = 0; i < 4; i++)
		woven_meet(i, 75 + i, 4, BOTH);
	woven_region(3, 90, true);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank2+work:70 rank3+work:12 message:8 ");
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->meets, 4);
	woven_end();
}

TEST(a_broadcast_depends_on_its_root)
{
	woven_begin(NETWEAVE_ALL);
	for (unsigned i = 0; i < 3; i++)
		woven_region(i, 0, false);
	woven_wait(0, 5);
	woven_wait(2, 60);
	woven_wait(1, 40);
	woven_meet(1, 45, 3, NETWEAVE_GIVES);
	woven_meet(0, 50, 3, NETWEAVE_TAKES);
	woven_meet(2, 62, 3, NETWEAVE_TAKES);
	woven_region(0, 100, true);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank0+work:50 rank1+work:40 message:10 ");
	woven_end();
}

TEST(a_reduction_waits_at_its_root)
{
	woven_begin(NETWEAVE_ALL);
	for (unsigned i = 0; i < 3; i++)
		woven_region(i, 0, false);
	woven_wait(0, 5);
	woven_wait(2, 60);
	woven_wait(1, 40);
	woven_meet(1, 41, 3, NETWEAVE_GIVES);
	woven_meet(2, 61, 3, NETWEAVE_GIVES);
	woven_meet(0, 65, 3, NETWEAVE_TAKES);
	woven_region(0, 100, true);
	woven_finish();
	ck_assert_str_eq(woven.use, "rank2+work:60 rank0+work:35 message:5 ");
	woven_end();
}

TEST(steps_count_threads_that_begin_late)
{
	woven_begin(NETWEAVE_STEP);
	woven_mark(0, 0, NETWEAVE_BEGIN, 1);
	woven_mark(0, 30, NETWEAVE_BEGIN, 2);
	woven_mark(1, 40, NETWEAVE_BEGIN, 1);
	woven_send(1, 60, 9);
	woven_mark(1, 70, NETWEAVE_BEGIN, 2);
	woven_wait(0, 71);
	woven_receive(0, 72, 9); /* of the step before */
	woven_mark(1, 90, NETWEAVE_END, 2);
	woven_mark(0, 100, NETWEAVE_END, 2);
	woven_finish();
	ck_assert_str_eq(woven.names, "step 1;step 2;");
	ck_assert_uint_eq(woven.nwhole, 2);
	ck_assert_str_eq(woven.use, "rank0:69 rank0+wait:1 ");
	ck_assert_int_eq(woven.response, 70);
	woven_end();
}

TEST(requests_take_their_workers_with_them)
{
	woven_begin(NETWEAVE_REQUEST);
	woven_wait(1, 0);
	woven_mark(0, 10, NETWEAVE_BEGIN, 5);
	woven_send(0, 20, 7);
	woven_wait(0, 21);
	woven_receive(1, 25, 7);
	woven_send(1, 80, 8);
	woven_wait(1, 81); /* and nothing comes: its work ends here */
	woven_receive(0, 90, 8);
	woven_mark(0, 95, NETWEAVE_END, 5);
	woven_finish();
	ck_assert_str_eq(woven.names, "step 5;");
	ck_assert_str_eq(woven.use, "rank1:55 rank0:15 message:15 ");
	ck_assert_int_eq(woven.response, 85);
	woven_end();
}

TEST(a_message_of_an_unwatched_sender_begins_an_interaction)
{
	woven_begin(NETWEAVE_REQUEST);
	woven_wait(0, 10);
	woven_receive(0, 20, 7);
	woven_send(0, 30, 8);
	woven_finish();
	ck_assert_str_eq(woven.names, "message 1 to rank0;");
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->unsent, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->unreceived, 1);
	woven_end();
}

TEST(a_lost_send_holds_its_receiver_for_a_bounded_time)
{
	woven_begin(NETWEAVE_ALL);
	woven_receive(0, 20, 7);
	woven_send(0, 30, 8);
	woven_wait(1, 31);
	woven_receive(1, 40, 8);
	woven_region(1, 41 + 2 * NETWEAVE_GRACE_NS, false);
	ck_assert_uint_eq(netweave_report(woven.weave)->unsent, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->receives, 2);
	woven_finish();
	ck_assert_uint_eq(woven.nwhole, 1);
	woven_end();
}

TEST(a_barrier_without_all_ranks_is_counted)
{
	woven_begin(NETWEAVE_ALL);
	woven_wait(0, 10);
	woven_wait(1, 50);
	woven_meet(0, 60, 3, BOTH);
	woven_meet(1, 61, 3, BOTH);
	woven_finish();
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->partial, 1);
	woven_end();
}

TEST(a_call_without_all_ranks_spoils_no_later_one)
{
	woven_begin(NETWEAVE_ALL);
	woven_meet(0, 10, 3, BOTH); /* the other ranks are not recorded yet */
	woven_add(2, (struct netweave_event){
			     .kind = NETWEAVE_MEET, .t = 20, .id = 78, .ranks = 3, .roles = BOTH });
	woven_add(1, (struct netweave_event){
			     .kind = NETWEAVE_MEET, .t = 21, .id = 78, .ranks = 3, .roles = BOTH });
	woven_add(0, (struct netweave_event){
			     .kind = NETWEAVE_MEET, .t = 22, .id = 78, .ranks = 3, .roles = BOTH });
	woven_finish();
	ck_assert_uint_eq(netweave_report(woven.weave)->partial, 1);
	woven_end();
}

TEST(a_repeated_id_is_no_message)
{
	woven_begin(NETWEAVE_ALL);
	woven_send(0, 10, 7);
	woven_send(0, 20, 7);
	woven_receive(1, 30, 7);
	woven_receive(1, 40, 7);
	woven_finish();
	ck_assert_uint_eq(woven.nwhole, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->unsent, 1);
	ck_assert_uint_eq(netweave_report(woven.weave)->unreceived, 1);
	woven_end();
}

TEST(a_message_of_another_century_is_not_received)
{
	woven_begin(NETWEAVE_ALL);
	woven_receive(0, -9 * (INT64_MAX / 10), 7);
	woven_send(1, 9 * (INT64_MAX / 10), 7);
	woven_finish();
	ck_assert_uint_eq(netweave_report(woven.weave)->unsent, 1);
	woven_end();
}

/* --- random programs: whatever is lost, doubled or reordered, networks are valid */

struct random {
	struct rng r;
	int64_t t;
	uint64_t under_way[64];
	size_t n;
	uint64_t next;
	uint64_t last[THREADS]; /* sends that may return late */
};

static void random_return(struct random *x, unsigned rank)
{
	if (x->last[rank] && rng_below(&x->r, 2))
		woven_sent(rank, x->t, x->last[rank]);
	x->last[rank] = 0;
}

static void random_step(struct random *x)
{
	unsigned rank = (unsigned)rng_below(&x->r, THREADS), what = (unsigned)rng_below(&x->r, 12);
	int64_t t = x->t += (int64_t)rng_below(&x->r, 5);
	struct netweave_event ev = { .t = t };

	random_return(x, rank);
	if (what < 4) {
		if (x->n == 64)
			return;
		woven_send(rank, t, x->under_way[x->n++] = ++x->next);
		x->last[rank] = x->next;
	} else if (what < 6) {
		woven_wait(rank, t);
		if (!rng_below(&x->r, 8)) /* by its clock, the other node sends it later */
			woven_receive(rank, t, x->next + 1);
	} else if (what < 9 && x->n) {
		size_t i = rng_below(&x->r, x->n);

		woven_receive(rank, t, x->under_way[i]);
		if (rng_below(&x->r, 20))
			x->under_way[i] = x->under_way[--x->n];
	} else if (what == 9) {
		woven_region(rank, t, rng_below(&x->r, 2));
	} else if (what == 10) {
		woven_mark(rank, t, rng_below(&x->r, 3) ? NETWEAVE_BEGIN : NETWEAVE_END,
			   rng_below(&x->r, 4));
	} else {
		ev = (struct netweave_event){ .kind = NETWEAVE_MEET,
					      .t = t,
					      .id = 1000000 + rng_below(&x->r, 3),
					      .ranks = 2,
					      .roles = (int32_t)rng_below(&x->r, 4) };
		woven_add(rank, ev);
	}
}

TEST_EACH(random_threads_make_valid_networks, mode, 3)
{
	uint64_t seed = suite_seed(19);

	for (unsigned round = 0; round < 300; round++) {
		struct random x = { .n = 0 };

		rng_init(&x.r, seed + round);
		woven_begin((enum netweave_mode)mode);
		for (int i = 0; i < 200; i++)
			random_step(&x);
		woven_finish();
		ck_assert_msg(!woven.nunfit, "seed %llu: %s", (unsigned long long)(seed + round),
			      woven.why);
		woven_end();
	}
}

SUITE("interaction/weave")
