/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/hold/holds.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "lm/hold/guard.h"
#include "lm/hold/journal.h"
#include "lm/hold/stand.h"
#include "lm/hold/stopnews.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Number of suspends of a thread by a tool without a resume. */
struct suspend {
	uint32_t tool, thread;
	uint32_t count;
};

/* A process that does not run because of us: it runs again when neither tools nor suspends are
 * left. */
struct stop {
	struct list link;
	struct proc *proc;
	uint32_t tool[HOLDS_TOOLS_MAX]; /* tools that have stopped it visibly */
	size_t ntool;
	bool is_reported; /* the stop was reported */
	bool is_awaited; /* stopped; reported when no thread runs */
	struct stand stand; /* result of the polls so far */
	unsigned depth; /* of the list that stopped it */
	bool was_stopped; /* by another program before, and not continued since: it stays stopped
			   */
	struct suspend *suspend; /* owned */
	size_t nsuspend, cap;
};

/* A thread may sleep in the kernel without a limit: such a process is examined seldom. */
#define HOLDS_LOOK_MAX_NS (500 * NSEC_PER_MSEC)

struct holds {
	struct loop *loop;
	struct host *host;
	struct procs *procs;
	struct procs_listener listener;
	char *path; /* owned; of the journal; NULL: none */
	struct store journal;
	uint64_t epoch;
	struct guard *guard; /* NULL: none */
	struct list all;
	size_t n;
	struct loop_timer *leash;
	struct loop_timer *look; /* polls the awaited processes */
	nsec_t step; /* interval of that timer */
	struct stopnews news;
	unsigned depth; /* depth of the running list; 0 = none */
	bool is_up;
};

static struct stop *find(const struct holds *s, const struct proc *p)
{
	list_each (i, &s->all)
		if (list_entry(i, struct stop, link)->proc == p)
			return list_entry(i, struct stop, link);
	return NULL;
}

static struct journal_line line_of(const struct holds *s, const struct proc *p)
{
	struct journal_line l = { .pid = p->pid, .start = p->start };

	str_copy(l.boot, sizeof(l.boot), procs_boot_id(s->procs));
	return l;
}

/* Omits processes that another program has stopped: the next lm must not continue them. */
static int write_journal(struct holds *s, struct err *e)
{
	struct buf b = BUF_INIT(JOURNAL_MAX_BYTES);
	size_t n = 0;
	int rc;

	if (!s->path)
		return 0;
	journal_begin(&b, s->epoch);
	list_each (i, &s->all) {
		const struct stop *st = list_entry(i, struct stop, link);
		struct journal_line l = line_of(s, st->proc);

		if (st->was_stopped)
			continue;
		journal_add(&b, &l);
		n++;
	}
	rc = journal_write(&s->journal, &b, n, e);
	buf_done(&b);
	return rc;
}

static void drop(struct holds *s, struct stop *st)
{
	st->proc->is_suspended = false;
	list_del(&st->link);
	s->n--;
	free(st->suspend);
	free(st);
	if (!list_is_empty(&s->all))
		return;
	loop_timer_cancel(s->leash);
	guard_want(s->guard, false);
}

/* --- waiting for a stop */

/*
 * Polls a process with a stop signal, which its threads handle only when they run. The stop is
 * reported when no thread runs.
 */
static void see(struct holds *s, struct stop *st, unsigned *looks)
{
	if (!st->is_awaited || !stand_poll(s->host, st->proc->pid, &st->stand, looks))
		return;
	st->is_awaited = false;
	st->is_reported = true;
	stopnews_note(&s->news, st->proc, true, st->depth);
}

static void on_look(void *arg)
{
	struct holds *s = arg;
	unsigned looks = STAND_POLLS_MAX;
	bool is_any = false;

	list_each (i, &s->all) {
		struct stop *st = list_entry(i, struct stop, link);

		see(s, st, &looks);
		is_any |= st->is_awaited;
	}
	if (!is_any)
		return;
	loop_timer_arm(s->look, s->step);
	s->step = s->step * 2 < HOLDS_LOOK_MAX_NS ? s->step * 2 : HOLDS_LOOK_MAX_NS;
}

static void await(struct holds *s, struct stop *st)
{
	unsigned looks = STAND_POLLS_MAX;

	if (st->is_reported || st->is_awaited)
		return;
	st->is_awaited = true;
	st->stand = (struct stand){ 0 };
	st->depth = s->depth;
	see(s, st, &looks);
	if (!st->is_awaited)
		return;
	s->step = STAND_FIRST_NS;
	loop_timer_arm(s->look, s->step);
}

/* True if the process was continued before its stop took effect: neither is reported. */
static bool give_up_waiting(struct holds *s, struct stop *st)
{
	unsigned looks = STAND_POLLS_MAX;
	bool was_awaited;

	see(s, st, &looks);
	was_awaited = st->is_awaited;
	st->is_awaited = false;
	return was_awaited;
}

void holds_set_depth(struct holds *s, unsigned depth)
{
	s->depth = depth;
}

void holds_on_change(struct holds *s, holds_on_change_fn fn, void *arg)
{
	s->news.fn = fn;
	s->news.arg = arg;
}

/* --- releasing */

/*
 * A traced process ('t') may be stopped or at a breakpoint: it counts as running. So the lm may
 * continue a process that another program has stopped. It never leaves one stopped that it has
 * stopped itself.
 */
static bool is_stopped_now(const struct holds *s, const struct proc *p)
{
	struct host_figures f;

	return !host_figures(s->host, p->pid, HOST_FIGURES_STAT, &f, NULL) && f.state == 'T';
}

/* A hold of the process was removed. had_tools: it had a visible stop before. */
static void settle(struct holds *s, struct stop *st, bool had_tools, const char *why)
{
	struct proc *p = st->proc;
	bool ends = had_tools && !st->ntool, is_reported;
	bool is_left = st->was_stopped && is_stopped_now(s, p);

	if (ends)
		give_up_waiting(s, st);
	is_reported = st->is_reported;
	p->is_suspended = st->nsuspend > 0;
	if (ends)
		st->is_reported = false;
	if (!st->ntool && !st->nsuspend) {
		log_debug("lm", "continuing a stopped process pid=%d reason=%s", (int)p->pid, why);
		if (p->held && !is_left)
			host_proc_signal(p->held, SIGCONT, NULL);
		drop(s, st);
	}
	if (!ends || is_left)
		return;
	procs_set_stopped(p, false);
	if (is_reported)
		stopnews_note(&s->news, p, false, s->depth);
}

static void let_go(struct holds *s, struct stop *st, const char *why)
{
	bool had_tools = st->ntool > 0;

	st->ntool = st->nsuspend = 0;
	settle(s, st, had_tools, why);
}

/* If no process is stopped, the journal is kept: it may be one that could not be read. */
static void let_all_go(struct holds *s, const char *why)
{
	if (!s->n)
		return;
	list_each_safe (i, &s->all)
		let_go(s, list_entry(i, struct stop, link), why);
	write_journal(s, NULL);
}

static void on_leash(void *arg)
{
	let_all_go(arg, "no tool can be asked");
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct holds *s = arg;
	struct stop *st = what == PROC_ENDED || what == PROC_FORGOTTEN ? find(s, p) : NULL;

	if (what == PROC_ENDING)
		stopnews_notify(&s->news, p); /* before its end */
	if (!st)
		return;
	drop(s, st);
	write_journal(s, NULL);
}

/* Returns true if a suspend was removed. tool, thread: NULL = any. */
static bool forget_suspends(struct stop *st, const uint32_t *tool, const uint32_t *thread)
{
	size_t left = 0, before = st->nsuspend;

	for (size_t i = 0; i < before; i++)
		if ((tool && st->suspend[i].tool != *tool) ||
		    (thread && st->suspend[i].thread != *thread))
			st->suspend[left++] = st->suspend[i];
	st->nsuspend = left;
	return left < before;
}

/* Removes the suspends of a thread that has ended. */
static void on_thread(void *arg, struct proc *p, const struct proc_thread *t, bool is_born)
{
	struct holds *s = arg;
	struct stop *st = is_born ? NULL : find(s, p);
	size_t before = s->n;

	if (!st || !forget_suspends(st, NULL, &t->id))
		return;
	settle(s, st, st->ntool > 0, "its thread has ended");
	if (s->n != before)
		write_journal(s, NULL);
}

/* --- life */

static void continue_line(void *arg, const struct journal_line *l)
{
	struct holds *s = arg;
	struct host_proc *held;

	if (!str_eq(l->boot, procs_boot_id(s->procs)) ||
	    host_proc_open(s->host, l->pid, &held, NULL))
		return;
	if (held->start == l->start)
		host_proc_signal(held, SIGCONT, NULL);
	host_proc_close(held);
}

static int open_journal(struct holds *s, const struct holds_conf *c, struct err *e)
{
	struct err why = { 0 };
	int rc;

	s->path = str_dup(c->journal);
	if (!s->path)
		return err_nomem(e);
	s->journal = STORE_INIT(&journal_kind, c->disk, s->path);
	rc = journal_replay(&s->journal, 0, continue_line, s, &why);
	if (rc == -ERR_PARSE)
		log_error("lm", "processes that an earlier lm held may be stopped: %s", why.text);
	else if (rc)
		return err_set(e, why.code, "%s", why.text);
	if (!c->guard)
		return 0;
	s->guard = guard_new(&(struct guard_conf){ c->loop, c->guard, c->journal, c->epoch });
	return s->guard ? 0 : err_nomem(e);
}

int holds_open(const struct holds_conf *c, struct holds **out, struct err *e)
{
	struct holds *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (!s)
		return err_nomem(e);
	s->loop = c->loop;
	s->host = c->host;
	s->procs = c->procs;
	s->news.loop = c->loop;
	s->news.procs = c->procs;
	s->epoch = c->epoch;
	list_init(&s->all);
	s->listener =
		(struct procs_listener){ .on_proc = on_proc, .on_thread = on_thread, .arg = s };
	procs_listen(s->procs, &s->listener);
	s->leash = loop_timer_new(c->loop, on_leash, s);
	s->look = loop_timer_new(c->loop, on_look, s);
	if (!s->leash || !s->look)
		rc = err_nomem(e);
	if (!rc && c->journal)
		rc = open_journal(s, c, e);
	if (rc) {
		holds_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void holds_free(struct holds *s)
{
	if (!s)
		return;
	s->news.fn = NULL;
	let_all_go(s, "the lm ends");
	procs_unlisten(&s->listener);
	loop_job_cancel(&s->news.job);
	loop_timer_free(s->leash);
	loop_timer_free(s->look);
	guard_free(s->guard);
	free(s->path);
	free(s);
}

/* --- stopping */

static int record(struct holds *s, struct proc *p, struct stop **out, struct err *e)
{
	struct stop *st = calloc(1, sizeof(*st));
	int rc;

	if (!st)
		return err_nomem(e);
	st->proc = p;
	st->was_stopped = is_stopped_now(s, p);
	list_push_back(&s->all, &st->link);
	s->n++;
	rc = write_journal(s, e); /* the journal is first: after a crash it must have each stop */
	if (rc) {
		drop(s, st);
		write_journal(s, NULL);
		return rc;
	}
	guard_want(s->guard, true);
	*out = st;
	return 0;
}

/* Detects that another program has continued it since the last poll: a stop now is ours. */
static int look_again(struct holds *s, struct stop *st, struct err *e)
{
	if (!st->was_stopped || is_stopped_now(s, st->proc))
		return 0;
	st->was_stopped = false;
	return write_journal(s, e);
}

/* Sends a signal that stops. */
static int hold(struct holds *s, struct proc *p, int sig, struct stop **out, struct err *e)
{
	struct stop *st = find(s, p);
	bool is_new = !st;
	int rc;

	if (!p->held)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	rc = is_new ? record(s, p, &st, e) : look_again(s, st, e);
	if (rc)
		return rc;
	rc = host_proc_signal(p->held, sig, e);
	if (rc && is_new) {
		drop(s, st);
		write_journal(s, NULL);
	}
	if (rc)
		return rc;
	if (!s->is_up && !loop_timer_is_armed(s->leash))
		loop_timer_arm(s->leash, STOP_LEASH_NS);
	*out = st;
	return 0;
}

static void note_tool(struct stop *st, uint32_t tool)
{
	for (size_t i = 0; i < st->ntool; i++)
		if (st->tool[i] == tool)
			return;
	if (st->ntool < HOLDS_TOOLS_MAX)
		st->tool[st->ntool++] = tool;
}

int holds_stop(struct holds *s, struct proc *p, uint32_t tool, struct err *e)
{
	struct stop *st;
	int rc = hold(s, p, SIGSTOP, &st, e);

	if (rc)
		return rc;
	note_tool(st, tool);
	procs_set_stopped(p, true);
	await(s, st);
	return 0;
}

/* The program may catch the signal and continue: polls show the actual state. */
int holds_signal(struct holds *s, struct proc *p, uint32_t tool, int sig, struct err *e)
{
	struct stop *st;
	int rc;

	if (sig == SIGSTOP)
		return holds_stop(s, p, tool, e);
	rc = hold(s, p, sig, &st, e);
	if (!rc)
		note_tool(st, tool);
	return rc;
}

int holds_continue(struct holds *s, struct proc *p, struct err *e)
{
	struct stop *st = find(s, p);
	bool was_seen;
	int rc = 0;

	if (!p->held)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	was_seen = !(st && give_up_waiting(s, st)) &&
		   ((st && st->is_reported) || p->state == MSG_STATE_STOPPED);
	if (!st || !st->nsuspend)
		rc = host_proc_signal(p->held, SIGCONT, e);
	if (rc)
		return rc;
	if (st && st->nsuspend) {
		st->ntool = 0;
		st->is_reported = st->was_stopped = false;
		rc = write_journal(s, e);
	} else if (st) {
		drop(s, st);
		write_journal(s, NULL);
	}
	procs_set_stopped(p, false);
	if (was_seen)
		stopnews_note(&s->news, p, false, s->depth);
	return rc;
}

/* --- suspending */

static struct suspend *find_suspend(const struct stop *st, uint32_t thread, uint32_t tool)
{
	for (size_t i = 0; st && i < st->nsuspend; i++)
		if (st->suspend[i].tool == tool && st->suspend[i].thread == thread)
			return &st->suspend[i];
	return NULL;
}

int holds_suspend(struct holds *s, struct proc *p, uint32_t thread, uint32_t tool, struct err *e)
{
	struct stop *st = find(s, p);
	struct suspend *x = find_suspend(st, thread, tool);
	int rc;

	if (x && x->count >= HOLDS_SUSPENDS_MAX)
		return err_set(e, ERR_LIMIT, "it is suspended %d times already",
			       HOLDS_SUSPENDS_MAX);
	rc = hold(s, p, SIGSTOP, &st, e);
	if (rc)
		return rc;
	if (!x &&
	    array_grow(&st->suspend, &st->cap, st->nsuspend + 1, sizeof(*x), OMIS_OBJECTS_MAX)) {
		settle(s, st, st->ntool > 0, "no memory");
		write_journal(s, NULL);
		return err_nomem(e);
	}
	if (!x) {
		x = &st->suspend[st->nsuspend++];
		*x = (struct suspend){ tool, thread, 0 };
	}
	x->count++;
	p->is_suspended = true;
	return 0;
}

int holds_resume(struct holds *s, struct proc *p, uint32_t thread, uint32_t tool, struct err *e)
{
	struct stop *st = find(s, p);
	struct suspend *x = find_suspend(st, thread, tool);
	size_t before = s->n;

	if (!p->held)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	if (!x || --x->count)
		return 0;
	*x = st->suspend[--st->nsuspend];
	settle(s, st, st->ntool > 0, "it is resumed");
	return s->n == before ? 0 : write_journal(s, e);
}

/* --- tools that disconnect */

static void forget_tool(struct stop *st, uint32_t tool)
{
	for (size_t k = 0; k < st->ntool; k++)
		if (st->tool[k] == tool)
			st->tool[k--] = st->tool[--st->ntool];
	forget_suspends(st, &tool, NULL);
}

void holds_tool_gone(struct holds *s, uint32_t tool)
{
	size_t before = s->n;

	list_each_safe (i, &s->all) {
		struct stop *st = list_entry(i, struct stop, link);
		bool had_tools = st->ntool > 0;

		forget_tool(st, tool);
		settle(s, st, had_tools, "its tool is gone");
	}
	if (s->n != before)
		write_journal(s, NULL);
}

void holds_let_go(struct holds *s, const char *reason)
{
	let_all_go(s, reason);
}

void holds_link(struct holds *s, bool is_up)
{
	s->is_up = is_up;
	if (is_up)
		loop_timer_cancel(s->leash);
	else if (s->n && !loop_timer_is_armed(s->leash))
		loop_timer_arm(s->leash, STOP_LEASH_NS);
}

bool holds_has(const struct holds *s, const struct proc *p)
{
	return find(s, p);
}

size_t holds_count(const struct holds *s)
{
	return s->n;
}
