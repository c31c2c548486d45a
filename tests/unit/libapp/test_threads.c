/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads at once, for the thread sanitizer too. It sees their shared state in libapp: blocks,
 * table of requests, generation of communicators. It does not see accesses across the segment's two
 * maps.
 */
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 300, WORD = HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER };

static pthread_barrier_t together;
static int buf[16];

static void run(void *(*body)(void *), int n)
{
	pthread_t t[THREADS * 2];

	ck_assert_int_eq(pthread_barrier_init(&together, NULL, (unsigned)n), 0);
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, body, NULL), 0);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&together);
}

/* Handles that one thread releases are the next that another gets. */
static void *talk(void *arg)
{
	int32_t r[2];

	fake_end = (struct fake_end){ .source = 2, .bytes = 8 };
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Irecv(buf, 16, FAKE_INT, FAKE_ANY_SOURCE, 1, FAKE_OTHER, &r[0]);
		MPI_Isend(buf, 3, FAKE_INT, 2, 1, FAKE_OTHER, &r[1]);
		MPI_Waitall(2, r, FAKE_STATUS_IGNORE);
		/* All are alive at once, and each has called MPI. */
		if (i == 0)
			pthread_barrier_wait(&together);
	}
	return NULL;
}

static void check_talk(uint64_t times)
{
	ck_assert_uint_eq(rank_call(CALL_ID_Irecv).count, times);
	ck_assert_uint_eq(rank_call(CALL_ID_Irecv).bytes_in, times * 8);
	ck_assert_uint_eq(rank_call(CALL_ID_Isend).bytes_out, times * 12);
	ck_assert_uint_eq(rank_call(CALL_ID_Waitall).count, times);
	ck_assert_uint_eq(rank_call(CALL_ID_Waitall).in_call, 0);
}

TEST(all_threads_together_count_right)
{
	rank_hooks(WORD);
	run(talk, THREADS);
	check_talk(THREADS * ROUNDS);
	ck_assert_uint_eq(rank_partner(CALL_ID_Isend, FAKE_SIZE - 1 - 2).count, THREADS * ROUNDS);
}

TEST(blocks_of_threads_that_are_gone_are_used_again)
{
	struct seg_own own;

	rank_hooks(WORD);
	for (int wave = 0; wave < 3; wave++)
		run(talk, THREADS);
	check_talk(3 * THREADS * ROUNDS);
	segview_own(rank_view, &own);
	ck_assert_uint_eq(own.threads_used, THREADS);
	ck_assert_uint_eq(own.threads_lost, 0);
}

TEST(threads_without_a_block_are_counted_as_lost)
{
	struct seg_own own;

	rank_hooks(WORD);
	run(talk, THREADS + 2);
	segview_own(rank_view, &own);
	ck_assert_uint_eq(own.threads_lost, 2);
	ck_assert_uint_eq(own.calls_lost, 2 * 3 * ROUNDS);
	check_talk(THREADS * ROUNDS);
}

static void *talk_and_free(void *arg)
{
	int32_t comm;

	pthread_barrier_wait(&together);
	for (int i = 0; i < ROUNDS; i++) {
		comm = (int32_t)FAKE_OTHER;
		MPI_Comm_free(&comm);
		MPI_Send(buf, 3, FAKE_INT, 2, 1, FAKE_OTHER);
	}
	return NULL;
}

TEST(communicators_are_freed_while_others_ask_for_their_ranks)
{
	rank_hooks(WORD);
	run(talk_and_free, THREADS);
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, THREADS * ROUNDS);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 2).count, THREADS * ROUNDS);
}

/* The lm's side changes everything while threads call. */
static int stop;

static void *change(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		rank_action((struct seg_action){ .func = CALL_ID_Send,
						 .phase = CALL_START,
						 .op = ACTION_COUNTER_ADD,
						 .cell = 1,
						 .value = 1 },
			    -1);
		rank_hooks(0xff);
		segview_reset(rank_view);
	}
	return NULL;
}

static void *send_many(void *arg)
{
	pthread_barrier_wait(&together);
	for (int i = 0; i < 10 * ROUNDS; i++)
		MPI_Send(buf, 3, FAKE_INT, 2, 1, FAKE_WORLD);
	return NULL;
}

TEST(hooks_and_actions_change_under_calls)
{
	struct segview_cell c;
	pthread_t lm;

	ck_assert_int_eq(pthread_create(&lm, NULL, change, NULL), 0);
	run(send_many, THREADS);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(lm, NULL);
	ck_assert_uint_le(rank_call(CALL_ID_Send).count, 10 * THREADS * ROUNDS);
	ck_assert_int_eq(segview_counter(rank_view, SEGVIEW_ALL, 1, &c), 0);
	ck_assert_int_le(c.n, 10 * THREADS * ROUNDS);
}

static void set_up(void)
{
	setenv("OMIG_THREADS", "4", 1); /* THREADS blocks; this thread takes none */
	rank_up();
}

SUITE_WITH("threads", set_up, rank_down)
