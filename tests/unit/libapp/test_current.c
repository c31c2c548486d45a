/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current call of a thread, watched or not, and time of calls that had begun before the watch.
 */
#include "common/base/clock.h"
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/app_state.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#include <setjmp.h>

enum { MEASURE = HOOK_COUNT | HOOK_TIME, TAG = 5 };

static int buf[16];
static struct segview_current seen;
static struct segview_call seen_call;
static uint64_t on, word_on = MEASURE; /* when, and what, a hook is switched on inside */

static uint64_t now(void)
{
	return ticks_now(app_state.ticks);
}

static void send_in(int dest, uintptr_t comm)
{
	MPI_Send(buf, 3, FAKE_INT, dest, TAG, comm);
}

static struct segview_current current(void)
{
	struct segview_current c;

	ck_assert(segview_current(rank_view, 0, &c));
	return c;
}

static void look(void)
{
	seen = current();
}

TEST(an_unwatched_call_is_seen_with_its_partner)
{
	uint64_t number;

	fake_end.inside = look;
	for (uint32_t word = 0; word <= HOOK_COUNT; word++) {
		rank_hooks(word);
		send_in(2, FAKE_WORLD);
		number = seen.number;
		ck_assert(seen.is_inside && !seen.is_timed && !seen.is_fortran && !seen.begin);
		ck_assert_uint_eq(seen.func, CALL_ID_Send);
		ck_assert_int_eq(seen.peer, 2);
		ck_assert_int_eq(seen.tag, TAG);
		ck_assert_uint_eq(seen.comm, FAKE_WORLD);
		ck_assert(!current().is_inside);
		send_in(3, FAKE_OTHER);
		ck_assert_uint_eq(seen.number, number + 1);
		ck_assert_int_eq(seen.peer, 3);
		ck_assert_uint_eq(seen.comm, FAKE_OTHER);
	}
}

TEST(a_call_that_is_timed_has_its_begin)
{
	static const uint32_t words[] = { MEASURE, MEASURE | HOOK_VOLUME };
	uint64_t before = now();

	fake_end.inside = look;
	for (unsigned i = 0; i < 2; i++) {
		rank_hooks(words[i]);
		send_in(2, FAKE_WORLD);
		ck_assert(seen.is_inside && seen.is_timed);
		ck_assert_uint_ge(seen.begin, before);
		ck_assert_uint_le(seen.begin, now());
		ck_assert(!current().is_inside);
	}
}

TEST(a_call_from_fortran_is_seen_with_its_integers)
{
	int n = 3, type = (int)FAKE_INT, dest = 2, tag = TAG, comm = (int)FAKE_OTHER, error;

	fake_end.inside = look; /* within C's entry, which Fortran's calls */
	mpi_send_(buf, &n, &type, &dest, &tag, &comm, &error);
	ck_assert(seen.is_inside && seen.is_fortran);
	ck_assert_uint_eq(seen.func, CALL_ID_Send);
	ck_assert_int_eq(seen.peer, 2);
	ck_assert_int_eq(seen.tag, TAG);
	ck_assert_uint_eq((uint32_t)seen.comm, FAKE_OTHER);
}

static void call_inside(void)
{
	fake_end.inside = NULL;
	MPI_Recv(buf, 16, FAKE_INT, 1, TAG + 1, FAKE_WORLD, FAKE_STATUS_IGNORE);
	look();
}

TEST(calls_inside_of_a_call_are_not_the_call)
{
	for (uint32_t word = 0; word <= HOOK_COUNT; word++) {
		rank_hooks(word);
		fake_end.inside = call_inside;
		send_in(2, FAKE_WORLD);
		ck_assert(seen.is_inside);
		ck_assert_uint_eq(seen.func, CALL_ID_Send);
		ck_assert_int_eq(seen.tag, TAG);
		ck_assert(!current().is_inside);
	}
}

static jmp_buf back;

static void jump_back(void)
{
	longjmp(back, 1);
}

static __attribute__((noinline)) void leave_a_send(void)
{
	volatile char room[512];

	room[0] = 0;
	fake_end.inside = jump_back;
	if (setjmp(back) == 0)
		send_in(2, FAKE_WORLD);
	fake_end.inside = NULL;
	room[511] = room[0];
}

TEST(a_call_that_was_left_is_over_with_the_next_one)
{
	leave_a_send();
	ck_assert(current().is_inside);
	MPI_Barrier(FAKE_WORLD);
	ck_assert_uint_eq(current().func, CALL_ID_Barrier);
	ck_assert(!current().is_inside);
}

/* --- time from where the hook was switched on */

static void switch_on(void)
{
	on = now();
	ck_assert_int_eq(segview_hook_set(rank_view, CALL_ID_Send, (uint32_t)word_on, on), 0);
	ck_assert_int_eq(segview_call(rank_view, SEGVIEW_ALL, CALL_ID_Send, on + 1000, &seen_call),
			 0);
}

static void check_late(uint64_t before, uint64_t count)
{
	struct segview_call c = rank_call(CALL_ID_Send);

	ck_assert_uint_eq(seen_call.open_delay, 1000);
	ck_assert_uint_eq(seen_call.in_call, 1);
	ck_assert_uint_eq(c.count, count);
	ck_assert_uint_eq(c.in_call, 0);
	ck_assert_uint_gt(c.delay, before);
	ck_assert_uint_le(c.delay, before + (now() - on));
}

TEST(a_call_under_way_counts_from_the_start_of_its_hook)
{
	uint64_t delay, count;

	for (uint32_t word = 0; word <= HOOK_COUNT; word++) {
		delay = rank_call(CALL_ID_Send).delay;
		count = rank_call(CALL_ID_Send).count;
		rank_hooks(word);
		fake_end.inside = switch_on;
		send_in(2, FAKE_WORLD);
		check_late(delay, count + word);
		fake_end.inside = NULL;
		delay = rank_call(CALL_ID_Send).delay;
		send_in(2, FAKE_WORLD);
		ck_assert_uint_gt(rank_call(CALL_ID_Send).delay, delay);
		rank_hooks(0);
	}
}

TEST(fortran_counts_from_there_too)
{
	int n = 3, type = (int)FAKE_INT, dest = 2, tag = TAG, comm = (int)FAKE_OTHER, error;

	fake_end.inside = switch_on;
	mpi_send_(buf, &n, &type, &dest, &tag, &comm, &error);
	check_late(0, 0);
}

TEST(calls_that_sampling_passes_over_are_no_calls_from_before)
{
	word_on = MEASURE | HOOK_SAMPLE_MAX << HOOK_SAMPLE_SHIFT;
	on = now();
	segview_hook_set(rank_view, CALL_ID_Send, (uint32_t)word_on, on);
	fake_end.inside = switch_on;
	for (int i = 0; i < 16; i++) {
		uint64_t sampled = rank_call(CALL_ID_Send).sampled,
			 delay = rank_call(CALL_ID_Send).delay;

		send_in(2, FAKE_WORLD);
		if (rank_call(CALL_ID_Send).sampled != sampled)
			continue;
		ck_assert_uint_eq(seen_call.in_call, 0);
		ck_assert_uint_eq(rank_call(CALL_ID_Send).delay, delay);
	}
	/*
	 * A call that began before the hook was on is measured, although the word requests
	 * sampling.
	 */
	rank_hooks(0);
	send_in(2, FAKE_WORLD);
	ck_assert_uint_eq(seen_call.open_delay, 1000);
}

TEST(its_partner_has_the_time_but_not_the_call)
{
	struct segview_thread t;

	word_on = MEASURE | HOOK_VOLUME | HOOK_PARTNER;
	fake_end.inside = switch_on;
	send_in(3, FAKE_OTHER); /* in reverse order */
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 0).delay, rank_call(CALL_ID_Send).delay);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 0).count, 0);
	segview_thread(rank_view, 0, &t);
	ck_assert_uint_eq(t.partner_unknown, 0);
	rank_hooks(0);
	send_in(0, FAKE_OTHER);
	ck_assert_uint_gt(rank_partner(CALL_ID_Send, 3).delay, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 3).count, 0);
	rank_hooks(0);
	send_in(FAKE_ANY_SOURCE, FAKE_WORLD);
	segview_thread(rank_view, 0, &t);
	ck_assert_uint_gt(t.partner_unknown, 0);
}

static void speak(void)
{
	struct segview_call silent;

	segview_call(rank_view, SEGVIEW_ALL, CALL_ID_Send, now(), &silent);
	ck_assert_uint_eq(silent.in_call, 0);
	on = now();
	MPI_Pcontrol(1, NULL);
	segview_call(rank_view, SEGVIEW_ALL, CALL_ID_Send, now(), &seen_call);
}

TEST(a_call_that_pcontrol_silenced_counts_from_where_it_may_speak)
{
	uint64_t start = now();

	segview_hook_set(rank_view, CALL_ID_Send, MEASURE, start);
	MPI_Pcontrol(0, NULL);
	fake_end.inside = speak;
	send_in(2, FAKE_WORLD);
	ck_assert_uint_eq(seen_call.in_call, 1);
	ck_assert_uint_le(seen_call.open_delay, now() - on);
	ck_assert_uint_le(rank_call(CALL_ID_Send).delay, now() - on);
}

static void set_up(void)
{
	rank_up();
	word_on = MEASURE;
	fake_end.inside = NULL;
}

SUITE_WITH("current", set_up, rank_down)
