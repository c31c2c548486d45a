/* SPDX-License-Identifier: Apache-2.0 */
/* Stops and continues of a process by the monitor are events, whose actions may do the same. */
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct world w;
static struct fake_segment seg;
static char rank[TOKEN_BYTES];

static void open_rank(void)
{
	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, rank);
}

static void close_rank(void)
{
	world_close(&w);
	fake_segment_close(&seg);
}

static void arm(const char *csr, const char *event, const char *actions)
{
	char text[160];

	snprintf(text, sizeof(text), "%s([%s]): %s", event, rank, actions);
	ck_assert_uint_eq(
		world_arm(&w, csr, text, strstr(actions, "thread_") ? 1 : 0, true)->entry[0].status,
		STATUS_OK);
}

static void ask(uint32_t tool, const char *service, const char *rest)
{
	char text[128];

	snprintf(text, sizeof(text), ":%s([%s]%s)", service, rank, rest);
	ck_assert_uint_eq(reply_entry_of(world_ask_as(&w, tool, MANIPULATOR, text), NULL)->status,
			  STATUS_OK);
}

/*
 * Number of TRIGGERED of that request among the received messages; the last one of them in *last.
 */
static unsigned triggered(const char *csr, const struct msg_triggered **last)
{
	unsigned n = 0;

	world_run(&w, 20 * MS);
	for (size_t i = 0; i < w.mainsm.got.n; i++) {
		const struct msg *m = w.mainsm.got.m[i];

		if (m->type != MSG_TRIGGERED || strcmp(m->triggered.csr, csr) != 0)
			continue;
		n++;
		if (last)
			*last = &m->triggered;
	}
	return n;
}

/* c_1: it has been stopped, c_2: continued. */
static void open_watched(void)
{
	open_rank();
	arm("c_1", "proc_has_been_stopped", "print([1])");
	arm("c_2", "proc_has_been_continued", "print([1])");
}

TEST(holds_and_continues_are_reported_once_each)
{
	const struct msg_triggered *t = NULL;

	open_watched();
	ask(1, "thread_continue", "");
	ck_assert_uint_eq(triggered("c_2", NULL), 0); /* it ran */
	ask(1, "thread_stop", "");
	ask(2, "thread_stop", "");
	ck_assert_uint_eq(triggered("c_1", &t), 1);
	ck_assert_str_eq(t->proc, rank);
	ck_assert_str_eq(t->thread, "");
	ask(1, "thread_continue", "");
	ask(1, "thread_continue", "");
	ck_assert_uint_eq(triggered("c_2", NULL), 1);
	ask(1, "proc_send_signal", ",19");
	ck_assert_uint_eq(triggered("c_1", NULL), 2);
	close_rank();
}

TEST(a_foreign_stop_is_no_event_but_its_end_by_the_monitor_is)
{
	open_watched();
	fake_proc_find(&w.host, 100)->state = 'T';
	world_run(&w, 3 * SEC);
	ck_assert_uint_eq(triggered("c_1", NULL), 0);
	ask(1, "thread_continue", "");
	ck_assert_uint_eq(triggered("c_2", NULL), 1);
	close_rank();
}

TEST(suspending_is_not_reported)
{
	open_watched();
	ask(1, "thread_suspend", "");
	ask(1, "thread_resume", "");
	ck_assert_uint_eq(triggered("c_1", NULL), 0);
	ck_assert_uint_eq(triggered("c_2", NULL), 0);
	close_rank();
}

TEST(the_leash_is_an_event_too)
{
	open_rank();
	arm("c_2", "proc_has_been_continued", "print([1])");
	ask(2, "thread_stop", "");
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 2 } });
	ck_assert_uint_eq(triggered("c_2", NULL), 1);
	close_rank();
}

TEST(each_thread_that_is_watched_has_its_event)
{
	const struct msg_triggered *t = NULL;

	open_rank();
	fake_thread_add(fake_proc_find(&w.host, 100), 101);
	world_run(&w, 3 * SEC);
	arm("c_1", "thread_has_been_stopped", "print([1])");
	arm("c_2", "thread_has_been_continued", "print([1])");
	ask(1, "thread_stop", "");
	ck_assert_uint_eq(triggered("c_1", &t), 2);
	ck_assert_str_eq(t->proc, rank);
	ck_assert_str_eq(t->thread, proc_find_tid(procs_find_pid(w.lm->procs, 100), 101)->token.s);
	ask(1, "thread_continue", "");
	ck_assert_uint_eq(triggered("c_2", NULL), 2);
	close_rank();
}

TEST(an_action_may_undo_what_happened)
{
	open_rank();
	arm("c_1", "proc_has_been_stopped", "thread_continue([$proc])");
	ask(1, "thread_stop", "");
	ck_assert_uint_eq(triggered("c_1", NULL), 1);
	ck_assert_int_eq(fake_proc_find(&w.host, 100)->state, 'S');
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
	close_rank();
}

TEST(actions_that_chase_each_other_end_at_the_rate_limit)
{
	open_rank();
	arm("c_1", "proc_has_been_stopped", "thread_continue([$proc])");
	arm("c_2", "proc_has_been_continued", "thread_stop([$proc])");
	ask(1, "thread_stop", "");
	ck_assert_uint_le(triggered("c_1", NULL), TOOL_FIRINGS_PER_SEC_MAX);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_1" } });
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_2" } });
	world_run(&w, 20 * MS);
	ask(1, "thread_continue", "");
	ck_assert_int_eq(fake_proc_find(&w.host, 100)->state, 'S');
	close_rank();
}

TEST(a_process_that_ends_in_the_same_moment_was_stopped_before)
{
	struct proc *p;

	open_rank();
	arm("c_1", "proc_has_been_stopped", "print([1])");
	arm("c_3", "proc_has_terminated", "print([1])");
	p = procs_find_pid(w.lm->procs, 100);
	ck_assert_int_eq(holds_stop(w.lm->holds, p, 1, NULL), 0);
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	ck_assert_uint_eq(triggered("c_1", NULL), 1);
	ck_assert_uint_eq(triggered("c_3", NULL), 1);
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
	close_rank();
}

/* A rank with two threads, which stop when the test requests it. */
static struct fake_proc *open_slow(void)
{
	struct fake_proc *p;

	open_rank();
	p = fake_proc_find(&w.host, 100);
	fake_thread_add(p, 101);
	world_run(&w, 3 * SEC);
	p->is_slow = true;
	arm("c_1", "proc_has_been_stopped", "print([1])");
	arm("c_2", "proc_has_been_continued", "print([1])");
	return p;
}

static void stop_and_continue(bool is_stop)
{
	struct proc *p = procs_find_pid(w.lm->procs, 100);

	ck_assert_int_eq(is_stop ? holds_stop(w.lm->holds, p, 2, NULL)
				 : holds_continue(w.lm->holds, p, NULL),
			 0);
}

TEST(a_stop_is_reported_when_no_thread_runs)
{
	struct fake_proc *p = open_slow();

	stop_and_continue(true);
	p->thread_state[0] = 'T';
	p->thread_state[1] = 'D';
	world_run(&w, 3 * SEC);
	ck_assert_uint_eq(triggered("c_1", NULL), 0);
	p->thread_state[1] = 'T';
	world_run(&w, SEC);
	ck_assert_uint_eq(triggered("c_1", NULL), 1);
	stop_and_continue(false);
	ck_assert_uint_eq(triggered("c_2", NULL), 1);
	close_rank();
}

TEST(a_stop_undone_before_a_poll_is_not_reported)
{
	struct fake_proc *p = open_slow();

	stop_and_continue(true);
	world_run(&w, 20 * MS);
	stop_and_continue(false);
	p->state = 'T';
	world_run(&w, 3 * SEC);
	ck_assert_uint_eq(triggered("c_1", NULL), 0);
	ck_assert_uint_eq(triggered("c_2", NULL), 0);
	close_rank();
}

TEST(a_stop_that_is_seen_when_it_is_taken_back_is_reported)
{
	struct fake_proc *p = open_slow();

	stop_and_continue(true);
	p->state = 'T';
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 2 } });
	ck_assert_uint_eq(triggered("c_1", NULL), 1);
	ck_assert_uint_eq(triggered("c_2", NULL), 1);
	close_rank();
}

SUITE("lm stop events")
