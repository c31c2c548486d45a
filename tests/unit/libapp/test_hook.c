/* SPDX-License-Identifier: Apache-2.0 */
/* Time, events, actions in the rank, and the program's own settings. */
#include "common/ring/calls.h"
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/app_state.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#include <fcntl.h>
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int buf[16];

static void send_to(int dest)
{
	MPI_Send(buf, 3, FAKE_INT, dest, 5, FAKE_WORLD);
}

static void recv_any(void)
{
	MPI_Recv(buf, 16, FAKE_INT, FAKE_ANY_SOURCE, 5, FAKE_WORLD, FAKE_STATUS_IGNORE);
}

static struct segview_call seen_inside;

static void look_inside(void)
{
	seen_inside = rank_call(CALL_ID_Send);
}

TEST(a_call_that_has_not_ended_is_seen)
{
	rank_hooks(HOOK_COUNT | HOOK_TIME);
	for (int i = 0; i < 2; i++) { /* the first call of a thread uses the slow path */
		fake_end.inside = look_inside;
		send_to(2);
		ck_assert_uint_eq(seen_inside.in_call, 1);
		ck_assert_uint_eq(seen_inside.sampled, i);
		ck_assert_uint_eq(rank_call(CALL_ID_Send).in_call, 0);
		ck_assert_uint_eq(rank_call(CALL_ID_Send).sampled, i + 1);
	}
}

static jmp_buf back;

static void jump_back(void)
{
	longjmp(back, 1);
}

/*
 * Runs deeper on the stack than the next call of its caller: by more than the frame of a wrapper,
 * which a sanitizer makes larger.
 */
static __attribute__((noinline)) void leave_a_send(void)
{
	volatile char room[8192];

	room[0] = 0;
	fake_end.inside = jump_back;
	if (setjmp(back) == 0)
		send_to(2);
	fake_end.inside = NULL;
	room[8191] = room[0];
}

TEST(a_call_that_was_left_by_longjmp_is_over)
{
	struct segview_call c;

	for (int i = 0; i < 4; i++) { /* the long way, the short ones of two words, with bytes */
		rank_hooks(i < 2   ? HOOK_COUNT | HOOK_TIME
			   : i < 3 ? HOOK_COUNT
				   : HOOK_COUNT | HOOK_TIME | HOOK_VOLUME);
		leave_a_send();
		MPI_Barrier(FAKE_WORLD);
		c = rank_call(CALL_ID_Send);
		ck_assert_uint_eq(c.count, i + 1);
		ck_assert_uint_eq(c.in_call, 0);
		ck_assert_uint_eq(c.sampled, 0);
		ck_assert(!c.torn);
		ck_assert_uint_eq(rank_call(CALL_ID_Barrier).count, i + 1);
		ck_assert_uint_eq(rank_call(CALL_ID_Barrier).in_call, 0);
	}
	MPI_Barrier(FAKE_WORLD);
	ck_assert_uint_eq(rank_call(CALL_ID_Barrier).count, 5);
}

TEST(sampling_measures_a_share_and_counts_all)
{
	struct segview_call c;

	rank_hooks(HOOK_COUNT | HOOK_TIME | 4 << HOOK_SAMPLE_SHIFT);
	for (int i = 0; i < 40000; i++)
		send_to(2);
	c = rank_call(CALL_ID_Send);
	ck_assert_uint_eq(c.count, 40000);
	/* 2,500 expected; the deviation is 48. */
	ck_assert_uint_gt(c.sampled, 2100);
	ck_assert_uint_lt(c.sampled, 2900);
}

static uint32_t sampled_in(unsigned k)
{
	return HOOK_COUNT | HOOK_TIME | k << HOOK_SAMPLE_SHIFT;
}

/* Since then: n calls of which 1 in 2^k was measured, within six deviations. */
static void check_share(unsigned func, const struct segview_call *then, uint64_t n, unsigned k)
{
	struct segview_call now = rank_call(func);
	uint64_t sampled = now.sampled - then->sampled, want = n >> k, deviation = 1;

	while (deviation * deviation < want)
		deviation++;
	ck_assert_uint_eq(now.count - then->count, n);
	ck_assert_msg(sampled + 6 * deviation > want && sampled < want + 6 * deviation,
		      "%llu of %llu measured, not 1 in %u", (unsigned long long)sampled,
		      (unsigned long long)n, 1u << k);
}

/* One send, then receives: about the mean gap, its double, and lengths without a common divisor. */
TEST(no_period_of_the_program_keeps_step_with_sampling)
{
	static const unsigned periods[] = { 2, 3, 15, 16, 17, 31, 32, 100 };

	rank_hooks(sampled_in(4));
	for (size_t p = 0; p < ARRAY_LEN(periods); p++) {
		struct segview_call sends = rank_call(CALL_ID_Send);
		struct segview_call recvs = rank_call(CALL_ID_Recv);

		for (int i = 0; i < 20000; i++) {
			send_to(2);
			for (unsigned r = 1; r < periods[p]; r++)
				recv_any();
		}
		check_share(CALL_ID_Send, &sends, 20000, 4);
		check_share(CALL_ID_Recv, &recvs, UINT64_C(20000) * (periods[p] - 1), 4);
	}
}

static const struct segview_call nothing;

TEST(alternating_calls_are_sampled_at_their_own_rates)
{
	segview_hook_set(rank_view, CALL_ID_Send, sampled_in(3), 0);
	segview_hook_set(rank_view, CALL_ID_Recv, sampled_in(5), 0);
	for (int i = 0; i < 100000; i++) {
		send_to(2);
		recv_any();
	}
	check_share(CALL_ID_Send, &nothing, 100000, 3);
	check_share(CALL_ID_Recv, &nothing, 100000, 5);
}

TEST(the_first_calls_after_a_change_are_measured_as_often_as_any)
{
	for (int i = 0; i < 40000; i++) {
		segview_hook_set(rank_view, CALL_ID_Send, sampled_in(i & 1 ? 4 : 5), 0);
		send_to(2);
		segview_hook_set(rank_view, CALL_ID_Recv, sampled_in(4), 0);
		recv_any();
		recv_any();
	}
	check_share(CALL_ID_Recv, &nothing, 80000, 4);
}

TEST(calls_of_the_slow_path_are_sampled_at_their_rate)
{
	segview_hook_set(rank_view, CALL_ID_Send, sampled_in(4) | HOOK_VOLUME, 0);
	segview_hook_set(rank_view, CALL_ID_Recv, sampled_in(4), 0);
	for (int i = 0; i < 40000; i++) {
		send_to(2);
		recv_any();
	}
	check_share(CALL_ID_Send, &nothing, 40000, 4);
	check_share(CALL_ID_Recv, &nothing, 40000, 4);
}

/* --- events */

struct seen {
	int n;
	struct ring_call call[4];
	int64_t par[4][RING_PAR_MAX];
};

static void on_event(void *arg, const struct ring_call *c)
{
	struct seen *s = arg;

	if (s->n == 4)
		return;
	s->call[s->n] = *c;
	memcpy(s->par[s->n++], c->par, c->npar * sizeof(c->par[0]));
}

TEST(an_event_has_arguments_at_its_start_and_a_partner_at_its_end)
{
	struct seen s = { 0 };

	rank_hooks(HOOK_EVENT_START | HOOK_EVENT_END);
	fake_end = (struct fake_end){ .source = 3, .bytes = 12 };
	send_to(2);
	recv_any();
	ck_assert_int_eq(segview_events(rank_view, 0, 100, on_event, &s), 4);
	ck_assert_uint_eq(s.call[0].func, CALL_ID_Send);
	ck_assert_uint_eq(s.call[0].phase, CALL_START);
	ck_assert_int_eq(s.call[0].tid, getpid());
	ck_assert_int_eq(s.par[0][0], FAKE_RANK);
	ck_assert_int_eq(s.par[0][2], 3);
	ck_assert_int_eq(s.par[0][7], 12); /* length */
	ck_assert_int_eq(s.par[0][8], 2); /* partner */
	ck_assert_uint_eq(s.call[1].phase, CALL_END);
	ck_assert_int_lt(s.par[2][7], 0); /* any source: not known yet */
	ck_assert_int_eq(s.par[3][2], 3);
	ck_assert_int_eq(s.par[3][3], 12);
}

TEST(events_that_nothing_takes_are_dropped_and_counted)
{
	struct segview_thread t;
	struct seen s = { 0 };
	int taken;

	rank_hooks(HOOK_EVENT_END);
	for (int i = 0; i < 20000; i++)
		send_to(2);
	taken = segview_events(rank_view, 0, 100000, on_event, &s);
	ck_assert_int_gt(taken, 100);
	segview_thread(rank_view, 0, &t);
	ck_assert_uint_eq(t.ring_dropped + (unsigned)taken, 20000);
}

/* --- actions */

static struct segview_cell counter(unsigned cell)
{
	struct segview_cell c;

	ck_assert_int_eq(segview_counter(rank_view, SEGVIEW_ALL, cell, &c), 0);
	return c;
}

TEST(actions_run_in_the_rank_for_the_partners_that_were_asked_for)
{
	struct segview_cell c;

	fake_end = (struct fake_end){ .source = 3, .bytes = 12 };
	rank_action((struct seg_action){ .func = CALL_ID_Recv,
					 .phase = CALL_START,
					 .op = ACTION_COUNTER_ADD,
					 .cell = 1,
					 .value = 1 },
		    -1);
	rank_action((struct seg_action){ .func = CALL_ID_Recv,
					 .phase = CALL_END,
					 .op = ACTION_COUNTER_ADD,
					 .cell = 2,
					 .value = 0 },
		    3);
	rank_action((struct seg_action){ .func = CALL_ID_Recv,
					 .phase = CALL_END,
					 .op = ACTION_COUNTER_ADD,
					 .cell = 3,
					 .value = 1 },
		    2);
	rank_action((struct seg_action){ .func = CALL_ID_Recv,
					 .phase = CALL_START,
					 .op = ACTION_PATOP_INTEGRATOR_ADD,
					 .cell = 4,
					 .value = 1 },
		    3);
	rank_action((struct seg_action){ .func = CALL_ID_Recv,
					 .phase = CALL_END,
					 .op = ACTION_PATOP_INTEGRATOR_ADD,
					 .cell = 4,
					 .value = -1 },
		    3);
	rank_hooks(HOOK_ACTION_START | HOOK_ACTION_END);
	for (int i = 0; i < 5; i++)
		recv_any();
	ck_assert_int_eq(counter(1).n, 5);
	ck_assert_int_eq(counter(2).n, 60);
	ck_assert_int_eq(counter(3).n, 0);
	segview_integrator(rank_view, SEGVIEW_ALL, 4, UINT64_MAX, &c);
	ck_assert(c.integral > 0 && c.v == 0);
	segview_reset(rank_view);
	recv_any();
	ck_assert_int_eq(counter(1).n, 5);
}

/* --- the program's own setting; its children */

TEST(pcontrol_silences_all_hooks_and_lets_them_speak)
{
	struct seg_own own;
	int off = 0;

	rank_hooks(HOOK_COUNT);
	MPI_Pcontrol(0, NULL);
	send_to(2);
	segview_own(rank_view, &own);
	ck_assert_uint_eq(own.pcontrol, 0);
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 0);
	MPI_Pcontrol(1, NULL);
	MPI_Pcontrol(2, NULL);
	send_to(2);
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 1);
	mpi_pcontrol_(&off, NULL);
	send_to(2);
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 1);
}

TEST(a_forked_child_counts_nothing_of_its_parents)
{
	int fd = app_state.fd, status;
	pid_t pid;

	rank_hooks(HOOK_COUNT);
	send_to(2);
	pid = fork();
	if (pid == 0) {
		send_to(2);
		_exit(fcntl(fd, F_GETFD) >= 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	send_to(2);
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 2);
}

SUITE_WITH("hook", rank_up, rank_down)
