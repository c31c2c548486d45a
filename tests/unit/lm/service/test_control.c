/* SPDX-License-Identifier: Apache-2.0 */
/* Suspending, which counts and is not seen; signals and priorities of single threads. */
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct world w;
static struct fake_segment seg;
static char rank[TOKEN_BYTES], thread[2][TOKEN_BYTES];

/* A rank with two threads, 100 and 101. */
static void open_rank(void)
{
	const struct proc *p;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, rank);
	fake_thread_add(fake_proc_find(&w.host, 100), 101);
	world_run(&w, 3 * SEC);
	p = procs_find_pid(w.lm->procs, 100);
	for (int i = 0; i < 2; i++)
		str_copy(thread[i], TOKEN_BYTES, proc_find_tid(p, 100 + i)->token.s);
}

static void close_rank(void)
{
	world_close(&w);
	fake_segment_close(&seg);
}

static struct fake_proc *fake(void)
{
	return fake_proc_find(&w.host, 100);
}

static const struct msg_entry *ask_of(uint32_t tool, const char *service, const char *object,
				      const char *rest)
{
	char text[128];

	snprintf(text, sizeof(text), ":%s([%s]%s)", service, object, rest);
	return reply_entry_of(world_ask_as(&w, tool, MANIPULATOR, text), NULL);
}

static unsigned ask(uint32_t tool, const char *service)
{
	return ask_of(tool, service, rank, "")->status;
}

static bool is_stopped(void)
{
	return fake()->state == 'T';
}

static void tool_leaves(uint32_t tool)
{
	above_send(&w.mainsm,
		   &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = tool } });
	world_run(&w, 20 * MS);
}

TEST(suspends_count_and_each_is_taken_back)
{
	ck_assert_uint_eq(ask(1, "thread_suspend"), STATUS_OK);
	ck_assert_uint_eq(ask(1, "thread_suspend"), STATUS_OK);
	ck_assert(is_stopped());
	ck_assert_uint_eq(ask(1, "thread_resume"), STATUS_OK);
	ck_assert(is_stopped());
	ck_assert(procs_find_pid(w.lm->procs, 100)->is_suspended);
	ck_assert_uint_eq(ask(1, "thread_resume"), STATUS_OK);
	ck_assert(!is_stopped());
	ck_assert(!procs_find_pid(w.lm->procs, 100)->is_suspended);
	ck_assert_uint_eq(ask(1, "thread_resume"), STATUS_OK);
	ck_assert_uint_eq(ask(1, "thread_suspend"), STATUS_OK);
	ck_assert(is_stopped()); /* the surplus is not credited */
	ck_assert_uint_eq(ask(1, "thread_resume"), STATUS_OK);
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
}

TEST(one_thread_of_a_process_holds_it_all)
{
	ask_of(1, "thread_suspend", thread[0], "");
	ask_of(1, "thread_suspend", thread[1], "");
	ask_of(1, "thread_resume", thread[0], "");
	ck_assert(is_stopped());
	ask_of(1, "thread_resume", thread[0], ""); /* the other one stays suspended */
	ck_assert(is_stopped());
	ask_of(1, "thread_resume", thread[1], "");
	ck_assert(!is_stopped());
}

TEST(tools_do_not_resume_for_each_other)
{
	ask(1, "thread_suspend");
	ask(2, "thread_suspend");
	ask(1, "thread_resume");
	ask(1, "thread_resume");
	ck_assert(is_stopped());
	ask(2, "thread_resume");
	ck_assert(!is_stopped());
}

TEST(stopped_and_suspended_know_nothing_of_each_other)
{
	ask(1, "thread_suspend");
	ask(2, "thread_stop");
	ask(1, "thread_resume");
	ck_assert(is_stopped());
	ask(1, "thread_suspend");
	ask(2, "thread_continue");
	ck_assert(is_stopped());
	ck_assert_uint_eq(ask_of(2, "proc_send_signal", rank, ",18")->status, STATUS_OK);
	ck_assert(is_stopped());
	ask(1, "thread_resume");
	ck_assert(!is_stopped());
}

TEST(a_suspended_process_is_not_reported_as_stopped)
{
	struct proc *p;

	p = procs_find_pid(w.lm->procs, 100);
	ask(1, "thread_suspend");
	world_run(&w, 5 * SEC);
	ck_assert(is_stopped());
	ck_assert_uint_eq(p->state, MSG_STATE_RUN);
	ck_assert_str_eq(entry_text(ask_of(2, "proc_get_info", rank, ",1024")), "1");
	ck_assert_str_eq(entry_text(ask_of(2, "thread_get_info", thread[1], ",256")), "1");
	ask(2, "thread_stop");
	ck_assert_uint_eq(p->state, MSG_STATE_STOPPED);
	ck_assert_str_eq(entry_text(ask_of(2, "proc_get_info", rank, ",1024")), "4");
	ask(2, "thread_continue");
	ck_assert_uint_eq(p->state, MSG_STATE_RUN);
	ck_assert_str_eq(entry_text(ask_of(2, "proc_get_info", rank, ",1024")), "1");
}

TEST(a_process_stopped_by_others_is_left_stopped)
{
	fake()->state = 'T';
	ask(1, "thread_suspend");
	ask(1, "thread_resume");
	ck_assert(is_stopped());
	ask(1, "thread_suspend");
	tool_leaves(1);
	ck_assert(is_stopped());
	ask(1, "thread_suspend");
	ask(1, "thread_continue");
	ask(1, "thread_resume");
	ck_assert(!is_stopped());
}

/* Such as: Slurm suspends a job and later resumes it, while a tool holds it. */
TEST(a_process_continued_by_others_runs_at_the_end)
{
	fake()->state = 'T';
	ask(1, "thread_suspend");
	fake()->state = 'S';
	ask(2, "thread_suspend");
	ask(1, "thread_resume");
	ck_assert(is_stopped());
	ask(2, "thread_resume");
	ck_assert(!is_stopped());
	fake()->state = 'T';
	ask(1, "thread_stop");
	fake()->state = 'S';
	ask(1, "thread_stop");
	tool_leaves(1);
	ck_assert(!is_stopped());
}

TEST(a_tool_that_stops_what_is_stopped_leaves_it_so)
{
	fake()->state = 'T';
	ask(1, "thread_stop");
	tool_leaves(1);
	ck_assert(is_stopped());
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
	ck_assert_uint_eq(procs_find_pid(w.lm->procs, 100)->state, MSG_STATE_STOPPED);
	ask(1, "thread_stop");
	ask(1, "thread_continue");
	ck_assert(!is_stopped());
}

/* A tracer may stop the process for a moment at a breakpoint. */
TEST(traced_process_counts_as_running)
{
	fake()->state = 't';
	ask(1, "thread_suspend");
	ask(1, "thread_resume");
	ck_assert(!is_stopped());
}

TEST(a_suspend_is_on_the_leash)
{
	ask(1, "thread_suspend");
	ask(1, "thread_suspend");
	ask(2, "thread_suspend");
	tool_leaves(1);
	ck_assert(is_stopped());
	tool_leaves(2);
	ck_assert(!is_stopped());
	ask(1, "thread_suspend");
	link_close(w.mainsm.up.link, "gone");
	w.mainsm.up.link = NULL;
	w.mainsm.refuse = "not now";
	world_run(&w, STOP_LEASH_NS + SEC);
	ck_assert(!is_stopped());
	ck_assert(!procs_find_pid(w.lm->procs, 100)->is_suspended);
	w.mainsm.refuse = NULL;
	world_run(&w, 15 * SEC);
}

TEST(a_tool_that_stopped_and_suspended_leaves_with_both)
{
	ask(1, "thread_stop");
	ask(1, "thread_suspend");
	ask(2, "thread_stop");
	tool_leaves(2);
	ck_assert(is_stopped());
	tool_leaves(1);
	ck_assert(!is_stopped());
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
}

TEST(a_thread_that_ends_is_held_no_more)
{
	ask_of(1, "thread_suspend", thread[1], "");
	ck_assert(is_stopped());
	fake_thread_end(fake(), 101);
	world_run(&w, 5 * SEC);
	ck_assert(!is_stopped());
}

TEST(a_rank_that_ends_while_suspended_leaves_no_trace)
{
	ask(1, "thread_suspend");
	fake_proc_end(fake(), SIGKILL);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
	ck_assert_uint_eq(ask_of(1, "thread_suspend", thread[0], "")->status,
			  STATUS_UNKNOWN_OBJECT);
}

TEST(a_kernel_that_refuses_the_stop_holds_nothing)
{
	fake()->refuse = ERR_DENIED;
	ck_assert_uint_eq(ask(1, "thread_suspend"), STATUS_NO_PERMISSION);
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
	ck_assert(!procs_find_pid(w.lm->procs, 100)->is_suspended);
}

TEST(a_suspend_too_many_is_refused)
{
	const struct proc *p;
	struct err e = { 0 };

	p = procs_find_pid(w.lm->procs, 100);
	for (int i = 0; i < HOLDS_SUSPENDS_MAX; i++)
		ck_assert_int_eq(
			holds_suspend(w.lm->holds, (struct proc *)p, p->thread[0].id, 1, &e), 0);
	ck_assert_int_eq(holds_suspend(w.lm->holds, (struct proc *)p, p->thread[0].id, 1, &e),
			 -ERR_LIMIT);
	ck_assert_int_eq(holds_suspend(w.lm->holds, (struct proc *)p, p->thread[0].id, 2, &e), 0);
}

TEST(a_signal_reaches_the_thread_it_is_for)
{
	ck_assert_uint_eq(ask_of(1, "thread_send_signal", thread[1], ",10")->status, STATUS_OK);
	ck_assert_uint_eq(fake()->nsignal, 1);
	ck_assert_int_eq(fake()->signal[0], SIGUSR1);
	ck_assert_int_eq(fake()->signal_tid, 101);
	ck_assert_uint_eq(ask_of(1, "thread_send_signal", thread[1], ",65")->status,
			  STATUS_PARAMETER_ERROR);
	fake_thread_end(fake(), 101);
	ck_assert_uint_eq(ask_of(1, "thread_send_signal", thread[1], ",10")->status,
			  STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(fake()->nsignal, 1);
}

TEST(stop_signals_are_held_until_the_tool_leaves)
{
	static const int stopping[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
	static const char *const how[] = { "proc_send_signal", "thread_send_signal" };
	char rest[16];

	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 2; k++) {
			fake()->nsignal = 0;
			snprintf(rest, sizeof(rest), ",%d", stopping[i]);
			ck_assert_uint_eq(ask_of(1, how[k], rank, rest)->status, STATUS_OK);
			ck_assert_int_eq(fake()->signal[0], stopping[i]);
			ck_assert_uint_eq(holds_count(w.lm->holds), 1);
			tool_leaves(1);
			ck_assert_uint_eq(holds_count(w.lm->holds), 0);
			ck_assert_int_eq(fake()->signal[fake()->nsignal - 1], SIGCONT);
		}
}

TEST(a_priority_is_set_for_the_threads_that_are_meant)
{
	ck_assert_uint_eq(ask_of(1, "thread_set_priority", thread[1], ",5")->status, STATUS_OK);
	ck_assert_int_eq(fake()->nice[0], 0);
	ck_assert_int_eq(fake()->nice[1], 5);
	ck_assert_uint_eq(ask_of(1, "proc_set_priority", rank, ",-7")->status, STATUS_OK);
	ck_assert_int_eq(fake()->nice[0], -7);
	ck_assert_int_eq(fake()->nice[1], -7);
}

TEST(a_priority_beyond_its_range_changes_nothing)
{
	static const char *const bad[] = { ",-21", ",20", ",4294967296", ",-9223372036854775808" };

	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(ask_of(1, "proc_set_priority", rank, bad[i])->status,
				  STATUS_PARAMETER_ERROR);
		ck_assert_uint_eq(ask_of(1, "thread_set_priority", rank, bad[i])->status,
				  STATUS_PARAMETER_ERROR);
	}
	ck_assert_int_eq(fake()->nice[0], 0);
	ck_assert_uint_eq(ask_of(1, "proc_set_priority", rank, ",19")->status, STATUS_OK);
	ck_assert_uint_eq(ask_of(1, "proc_set_priority", rank, ",-20")->status, STATUS_OK);
}

TEST(a_refusal_reports_partial_changes)
{
	fake()->fixed_tid = 100;
	ck_assert_uint_eq(ask_of(1, "proc_set_priority", rank, ",3")->status, STATUS_NO_PERMISSION);
	fake()->fixed_tid = 101;
	ck_assert_uint_eq(ask_of(1, "proc_set_priority", rank, ",3")->status,
			  STATUS_NO_PERMISSION | STATUS_FATAL);
	ck_assert_uint_eq(ask_of(1, "thread_set_priority", thread[1], ",3")->status,
			  STATUS_NO_PERMISSION);
}

TEST(an_observer_may_not_use_these_services)
{
	static const char *const what[][2] = { { "thread_suspend", "" },
					       { "thread_resume", "" },
					       { "thread_send_signal", ",10" },
					       { "thread_set_priority", ",1" },
					       { "proc_set_priority", ",1" } };
	char text[128];

	for (size_t i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), ":%s([%s]%s)", what[i][0], rank, what[i][1]);
		ck_assert_uint_eq(reply_entry_of(world_ask(&w, OBSERVER, text), NULL)->status,
				  STATUS_NO_PERMISSION);
	}
	ck_assert_uint_eq(fake()->nsignal, 0);
	ck_assert_int_eq(fake()->nice[0], 0);
}

SUITE_WITH("lm control", open_rank, close_rank)
