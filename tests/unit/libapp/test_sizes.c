/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of this rank by the class of their size, and their shortest and longest one. */
#include "common/base/clock.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/hook.h"
#include "libapp/hot/site.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#define VOLUME (HOOK_COUNT | HOOK_TIME | HOOK_VOLUME)

static int buf[16], other[16];

static struct {
	unsigned func, class;
	struct segview_size sum;
} wanted;

static void on_size(void *arg, const struct segview_size *s)
{
	if (s->func != wanted.func || (wanted.class < SEG_SIZE_CLASSES && s->class != wanted.class))
		return;
	wanted.sum.count += s->count;
	wanted.sum.bytes += s->bytes;
	wanted.sum.delay += s->delay;
}

/* class SEG_SIZE_CLASSES: all. */
static struct segview_size size_of(unsigned func, unsigned class)
{
	wanted.func = func;
	wanted.class = class;
	wanted.sum = (struct segview_size){ 0 };
	for (unsigned i = 0; i < segview_threads(rank_view); i++)
		segview_sizes(rank_view, i, on_size, NULL);
	return wanted.sum;
}

TEST(each_call_stands_in_the_class_of_its_bytes)
{
	rank_hooks(VOLUME);
	MPI_Send(buf, 0, FAKE_INT, 2, 5, FAKE_WORLD);
	MPI_Send(buf, 2, FAKE_INT, 2, 5, FAKE_WORLD);
	MPI_Send(buf, 3, FAKE_INT, 2, 5, FAKE_WORLD);
	MPI_Send(buf, 4, FAKE_INT, 2, 5, FAKE_WORLD);
	ck_assert_uint_eq(size_of(CALL_ID_Send, 0).count, 1);
	ck_assert_uint_eq(size_of(CALL_ID_Send, 4).count, 2);
	ck_assert_uint_eq(size_of(CALL_ID_Send, 4).bytes, 20);
	ck_assert_uint_eq(size_of(CALL_ID_Send, 5).count, 1);
	ck_assert_uint_gt(size_of(CALL_ID_Send, 5).delay, 0);
	rank_hooks(HOOK_COUNT | HOOK_TIME);
	MPI_Send(buf, 4, FAKE_INT, 2, 5, FAKE_WORLD);
	ck_assert_uint_eq(size_of(CALL_ID_Send, SEG_SIZE_CLASSES).count, 4);
}

TEST(a_call_in_both_directions_has_its_larger_size)
{
	rank_hooks(VOLUME);
	MPI_Allreduce(buf, other, 8, FAKE_INT, FAKE_SUM, FAKE_WORLD);
	ck_assert_uint_eq(size_of(CALL_ID_Allreduce, 6).count, 1);
	ck_assert_uint_eq(size_of(CALL_ID_Allreduce, 6).bytes, 32);
}

TEST(a_posted_receive_has_the_size_of_what_arrives)
{
	int32_t r;

	rank_hooks(VOLUME);
	fake_end = (struct fake_end){ .bytes = 8, .count = 1 };
	MPI_Irecv(buf, 16, FAKE_INT, 2, 1, FAKE_WORLD, &r);
	ck_assert_uint_eq(size_of(CALL_ID_Irecv, SEG_SIZE_CLASSES).count, 0);
	MPI_Wait(&r, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(size_of(CALL_ID_Irecv, 4).count, 1);
	ck_assert_uint_eq(size_of(CALL_ID_Irecv, SEG_SIZE_CLASSES).bytes, 8);
	ck_assert_uint_eq(size_of(CALL_ID_Wait, SEG_SIZE_CLASSES).count, 0);
}

TEST(calls_that_move_nothing_or_fail_have_no_size)
{
	rank_hooks(VOLUME);
	MPI_Barrier(FAKE_WORLD);
	fake_end.result = 7;
	MPI_Send(buf, 4, FAKE_INT, 2, 5, FAKE_WORLD);
	fake_end.result = 0;
	ck_assert_uint_eq(size_of(CALL_ID_Barrier, SEG_SIZE_CLASSES).count, 0);
	ck_assert_uint_eq(size_of(CALL_ID_Send, SEG_SIZE_CLASSES).count, 0);
}

TEST(a_full_table_counts_what_it_loses)
{
	struct segview_thread t;

	rank_hooks(VOLUME);
	MPI_Send(buf, 4, FAKE_INT, 2, 5, FAKE_WORLD);
	for (unsigned i = 0; i < 2 * SEG_SIZES; i++)
		size_add(CALL_COUNT + i, 1, 0, 0);
	ck_assert_int_eq(segview_thread(rank_view, hook_thread.index, &t), 0);
	ck_assert_uint_ge(t.size_lost, SEG_SIZES);
	MPI_Send(buf, 4, FAKE_INT, 2, 5, FAKE_WORLD); /* sizes with a place continue to count */
	ck_assert_uint_eq(size_of(CALL_ID_Send, 5).count, 2);
}

static nsec_t inside_for;

static void stay_inside(void)
{
	nsec_t end = clock_mono() + inside_for;

	while (clock_mono() < end)
		;
}

/* By the short way, and by the long one. What each call took is what the sum gained by it. */
static void send_for_times(uint32_t word)
{
	static const nsec_t times[] = { 2000000, 1000000, 3000000 };
	uint64_t shortest = UINT64_MAX, longest = 0, before = 0, span;
	struct segview_call c = { 0 };

	rank_hooks(word);
	fake_end.inside = stay_inside;
	for (unsigned i = 0; i < 3; i++) {
		inside_for = times[i];
		MPI_Send(buf, 1, FAKE_INT, 2, 5, FAKE_WORLD);
		c = rank_call(CALL_ID_Send);
		span = c.delay - before;
		before = c.delay;
		shortest = span < shortest ? span : shortest;
		longest = span > longest ? span : longest;
	}
	fake_end.inside = NULL;
	ck_assert_uint_gt(shortest, 0);
	ck_assert_uint_eq(c.shortest, shortest);
	ck_assert_uint_eq(c.longest, longest);
}

TEST(the_shortest_and_the_longest_call_are_known_by_the_short_way)
{
	send_for_times(HOOK_COUNT | HOOK_TIME);
}

TEST(the_shortest_and_the_longest_call_are_known_by_the_long_way)
{
	send_for_times(VOLUME);
}

SUITE_WITH("sizes", rank_up, rank_down)
