/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that wait for actions elsewhere, and chains of events that go round in circles. */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "lm/csr/csr.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <signal.h>

#define SENDS "thread_has_started_lib_call([@],\"MPI_Send\"):"
#define FOREIGN_STOP SENDS " thread_stop([p_8_00000a])"

static const struct fake_proc *rank(int32_t pid)
{
	return fake_proc_find(&w.host, pid);
}

static int last_signal(int32_t pid)
{
	const struct fake_proc *p = rank(pid);

	return p->nsignal ? p->signal[p->nsignal - 1] : 0;
}

static bool is_in_tree_as_stopped(void)
{
	const struct msg *m;
	bool is = false;

	while ((m = above_next(&w.mainsm, MSG_DIRECTORY)))
		for (size_t i = 0; i < m->directory.nobject; i++)
			is |= m->directory.object[i].state == MSG_STATE_STOPPED;
	return is;
}

static void release(const struct msg_triggered *t)
{
	const struct msg_release r = { t->csr, t->seq, t->node };

	above_send(&w.mainsm, &(struct msg){ .type = MSG_RELEASE, .release = r });
	world_run(&w, 10 * MS);
}

TEST(a_held_process_waits_until_actions_elsewhere_have_ended)
{
	const struct msg_triggered *t;

	arm(FOREIGN_STOP, rank0, 0, true);
	call(&seg, "MPI_Send", 1, 1);
	t = next_triggered();
	ck_assert(t->held);
	ck_assert_int_eq(last_signal(100), SIGSTOP);
	ck_assert_int_eq(last_signal(200), 0);
	/* Other requests do not see the hold. */
	world_run(&w, 100 * MS);
	ck_assert(!is_in_tree_as_stopped());
	release(t);
	ck_assert_int_eq(last_signal(100), SIGCONT);
	release(t);
	ck_assert_uint_eq(rank(100)->nsignal, 2);
}

TEST(two_firings_hold_it_until_both_are_over)
{
	struct msg_triggered one, two;

	arm(FOREIGN_STOP, rank0, 0, true);
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
	call(&seg, "MPI_Send", 1, 1);
	one = *next_triggered();
	two = *next_triggered();
	ck_assert(one.held && two.held);
	ck_assert_uint_ne(one.seq, two.seq);
	release(&one);
	ck_assert_int_eq(last_signal(100), SIGSTOP);
	release(&two);
	ck_assert_int_eq(last_signal(100), SIGCONT);
}

TEST(a_held_process_waits_for_at_most_a_second)
{
	arm(FOREIGN_STOP, rank0, 0, true);
	call(&seg, "MPI_Send", 1, 1);
	world_run(&w, HOLD_MAX_NS - 100 * MS);
	ck_assert_int_eq(last_signal(100), SIGSTOP);
	world_run(&w, 100 * MS);
	ck_assert_int_eq(last_signal(100), SIGCONT);
	/* A late release changes nothing. */
	release(next_triggered());
	ck_assert_uint_eq(rank(100)->nsignal, 2);
}

TEST(without_a_link_upwards_nothing_waits)
{
	arm(FOREIGN_STOP, rank0, 0, true);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_int_eq(last_signal(100), SIGSTOP);
	above_close(&w.mainsm);
	world_run(&w, 10 * MS);
	ck_assert_int_eq(last_signal(100), SIGCONT);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_int_eq(last_signal(100), SIGCONT);
}

TEST(one_that_ends_while_it_waits_is_forgotten)
{
	struct fake_proc *p;

	p = fake_proc_find(&w.host, 100);
	arm(FOREIGN_STOP, rank0, 0, true);
	call(&seg, "MPI_Send", 1, 1);
	fake_proc_end(p, SIGKILL);
	world_run(&w, 2 * SEC);
	release(next_triggered());
	ck_assert_uint_eq(p->nsignal, 1);
}

TEST(a_stop_by_a_tool_outlasts_the_wait)
{
	const struct msg_triggered *t;

	arm(FOREIGN_STOP, rank0, 0, true);
	call(&seg, "MPI_Send", 1, 1);
	t = next_triggered();
	world_ask(&w, MANIPULATOR, with(":thread_stop([@])", rank0));
	release(t);
	ck_assert_int_eq(last_signal(100), SIGSTOP);
}

/* Actions that only read make no process wait. */
BARE_TEST(actions_that_only_read_never_hold_a_process)
{
	static const struct {
		const char *actions;
		uint32_t prefix;
		bool waits;
	} cell[] = {
		{ "print([$proc])", 0, false },
		{ "node_get_info([n_8],1) print([$proc])", 0, false },
		{ "proc_get_info([$proc],1) print([$proc])", 1, false },
		{ "csr_enable([c_9])", 0, false },
		{ "thread_suspend([$thread]) thread_resume([$thread])", 2, false },
		{ "thread_suspend([$thread]) thread_resume([$thread]) print([1])", 2, false },
		{ "user_event_raise([e_1],[],1)", 0, false },
		{ "user_event_raise([e_1],[],0)", 0, true },
		{ "print([1]) ; proc_send_signal([p_8_00000a],10)", 0, true },
	};
	char text[256];

	for (size_t i = 0; i < ARRAY_LEN(cell); i++) {
		const struct msg_triggered *t;

		open_ranks();
		snprintf(text, sizeof(text), SENDS " %s", cell[i].actions);
		arm(text, rank0, cell[i].prefix, true);
		call(&seg, "MPI_Send", 1, 1);
		t = next_triggered();
		ck_assert_ptr_nonnull(t);
		ck_assert_msg(t->held == cell[i].waits, "%s", cell[i].actions);
		ck_assert_msg((last_signal(100) == SIGSTOP) == cell[i].waits, "%s",
			      cell[i].actions);
		close_ranks();
	}
}

BARE_TEST(on_a_host_without_manipulations_nothing_waits)
{
	world_open(&w);
	world_crash_lm(&w);
	w.may_manipulate = false;
	world_start_lm(&w);
	world_run(&w, SEC);
	world_add_rank(&w, &seg, 100, 0, rank0);
	arm(FOREIGN_STOP, rank0, 0, true);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert(!next_triggered()->held);
	ck_assert_uint_eq(rank(100)->nsignal, 0);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(a_predicate_that_stops_an_event_holds_nothing)
{
	arm(SENDS " omig_if($par8,\">\",5) thread_stop([p_8_00000a])", rank0, 1, true);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_uint_eq(rank(100)->nsignal, 0);
}

/* --- circles */

static unsigned reported(uint32_t *deepest)
{
	const struct msg_triggered *t;
	unsigned n = 0;

	*deepest = 0;
	while ((t = next_triggered())) {
		n++;
		*deepest = t->depth > *deepest ? t->depth : *deepest;
	}
	return n;
}

TEST(two_conditions_that_undo_each_other_end)
{
	uint32_t deepest;

	arm("proc_has_been_stopped([@]): thread_continue([$proc])", rank0, 1, true);
	world_arm(&w, "c_6", with("proc_has_been_continued([@]): thread_stop([$proc])", rank0), 1,
		  true);
	world_ask(&w, MANIPULATOR, with(":thread_stop([@])", rank0));
	world_run(&w, SEC);
	ck_assert_uint_eq(reported(&deepest), CAUSAL_DEPTH_MAX + 1);
	ck_assert_uint_eq(deepest, CAUSAL_DEPTH_MAX);
	ck_assert_uint_eq(rank(100)->nsignal, 1 + CAUSAL_DEPTH_MAX);
}

TEST(the_depth_of_a_request_continues)
{
	struct msg m = { .type = MSG_REQUEST };
	const char *text;
	uint32_t deepest;

	m.request = (struct msg_request){
		.id = 99, .tool = 1, .identity = MANIPULATOR, .right = OMIS_MANIPULATE, .depth = 2
	};
	arm("proc_has_been_stopped([@]): print([$proc])", rank0, 0, true);
	text = with(":thread_stop([@])", rank0);
	m.request.text = (struct bytes){ (const uint8_t *)text, strlen(text) };
	above_send(&w.mainsm, &m);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(reported(&deepest), 1);
	ck_assert_uint_eq(deepest, 2);
}

SUITE_WITH("lm holds", open_ranks, close_ranks)
