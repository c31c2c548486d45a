/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop does the work itself, in turns: for a program that must not have a second thread, and
 * may wait for the disk.
 */
#include "eventlog/spool/spooler_internal.h"

static nsec_t after(const struct spooler *s)
{
	return s->calls.turns->after(s->calls.turns->arg);
}

static nsec_t take_turn(struct spooler *s)
{
	s->is_asked = false;
	return turn_work(s->turn);
}

static void on_turn(void *arg)
{
	struct spooler *s = arg;
	nsec_t due = take_turn(s), soon;

	if (due == INT64_MAX)
		return;
	soon = after(s);
	due -= clock_mono();
	loop_timer_arm(s->next, due > soon ? due : soon);
}

static void on_reporting(void *arg)
{
	spooler_report(arg);
}

static void work(struct spooler *s)
{
	if (s->is_asked)
		return;
	s->is_asked = true;
	loop_timer_arm(s->next, after(s));
}

static int start(struct spooler *s, struct err *e)
{
	s->next = loop_timer_new(s->loop, on_turn, s);
	if (!s->next)
		return err_nomem(e);
	work(s);
	return 0;
}

static void report(struct spooler *s)
{
	loop_job_post(s->loop, &s->reporting, on_reporting, s);
}

static void close_it(struct spooler *s)
{
	take_turn(s); /* for the last requests */
	loop_timer_free(s->next);
	turn_close(s->turn);
	loop_job_cancel(&s->reporting);
	spooler_free(s);
}

const struct spooler_way spooler_loop = {
	.start = start, .work = work, .report = report, .close = close_it
};
