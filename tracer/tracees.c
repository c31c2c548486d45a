/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/limits.h"
#include "tracer/tracees_internal.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURN_NS (100 * 1000) /* the least that the kernel takes */

static void on_child(void *arg, int signo)
{
	struct tracees *s = arg;
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		tracees_on_status(s, tid, status);
}

static void note_time(nsec_t until, nsec_t *next)
{
	if (!*next || until < *next)
		*next = until;
}

/* A thread that has not stopped in time: its overdue works fail, and are never done later. */
static void give_up(struct tracees *s, struct tracee *t, nsec_t now, nsec_t *next)
{
	struct err e;

	err_set(&e, ERR_TIMEOUT, "the thread does not stop: it waits for a disk or a device");
	list_each_safe (i, &t->works) {
		struct work *w = list_entry(i, struct work, link);

		if (w->until <= now) {
			line_fail(s->line, w->id, &e);
			work_free(w);
		} else {
			note_time(w->until, next);
		}
	}
	if (!t->birth)
		return;
	birth_give_up(s, t, now);
	if (!t->birth->is_reported)
		note_time(t->birth->until, next);
}

void tracees_wake_at(struct tracees *s, nsec_t at)
{
	if (loop_timer_is_armed(s->patience) && s->wakes <= at)
		return;
	s->wakes = at;
	loop_timer_arm_at(s->patience, at);
}

static void on_patience(void *arg)
{
	struct tracees *s = arg;
	nsec_t now = loop_now(s->loop), next = 0;

	for (struct map_iter i = { 0 }; map_next(&s->by_tid, &i);)
		give_up(s, i.value, now, &next);
	if (next)
		tracees_wake_at(s, next);
}

/* Of the kernel; its header and that of the C library exclude one another. */
struct turns {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * Threads are stopped while this process waits for a processor. Since Linux 6.12 a process that
 * asks for short turns gets them earlier, and no more of them. Elsewhere this does nothing.
 */
static void ask_for_short_turns(void)
{
	struct turns a = { 0 };

	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) || a.policy != SCHED_OTHER)
		return;
	a.runtime = TURN_NS;
	syscall(SYS_sched_setattr, 0, &a, 0);
}

int tracees_open(struct loop *loop, struct line *line, struct tracees **out, struct err *e)
{
	struct tracees *s = calloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	s->loop = loop;
	s->line = line;
	ask_for_short_turns();
	map_init(&s->by_tid);
	list_init(&s->watches);
	s->unwinder = unwinder_new();
	s->patience = loop_timer_new(loop, on_patience, s);
	s->child = loop_signal_new(loop, SIGCHLD, on_child, s, e);
	if (!s->child || !s->patience || !s->unwinder) {
		tracees_close(s);
		return e && e->code ? -(int)e->code : err_nomem(e);
	}
	*out = s;
	return 0;
}

void tracee_forget(struct tracees *s, struct tracee *t, const char *why)
{
	struct err e;

	err_set(&e, ERR_NOTFOUND, "%s", why);
	list_each_safe (i, &t->works) {
		struct work *w = list_entry(i, struct work, link);

		line_fail(s->line, w->id, &e);
		work_free(w);
	}
	map_del(&s->by_tid, (uint64_t)t->who.tid);
	birth_free(t->birth);
	free(t);
}

/* Kills created processes that were not released: no other program knows of them. */
void tracees_close(struct tracees *s)
{
	if (!s)
		return;
	for (struct map_iter i = { 0 }; map_next(&s->by_tid, &i);) {
		struct tracee *t = i.value;

		if (t->birth)
			kill(t->who.pid, SIGKILL);
		list_each_safe (k, &t->works)
			work_free(list_entry(k, struct work, link));
		birth_free(t->birth);
		free(t);
	}
	list_each_safe (i, &s->watches)
		free(list_entry(i, struct watch, link));
	map_done(&s->by_tid);
	loop_signal_free(s->child);
	loop_timer_free(s->patience);
	unwinder_free(s->unwinder);
	free(s);
}

size_t tracees_count(const struct tracees *s)
{
	return s->by_tid.n;
}

struct tracee *tracee_add(struct tracees *s, const struct who *w, struct err *e)
{
	struct tracee *t;

	if (s->by_tid.n >= TRACEES_MAX) {
		err_set(e, ERR_LIMIT, "%d threads are traced already", TRACEES_MAX);
		return NULL;
	}
	t = calloc(1, sizeof(*t));
	if (t) {
		t->who = *w;
		t->syscall = t->repeats = SYSCALL_UNKNOWN;
		list_init(&t->works);
		if (!map_put(&s->by_tid, (uint64_t)w->tid, t, NULL))
			return t;
	}
	free(t);
	err_nomem(e);
	return NULL;
}

static int seize_error(const struct who *w, struct err *e)
{
	int why = errno;

	if (why == ESRCH || (why == EPERM && who_has_ended(w)))
		return err_set(e, ERR_NOTFOUND, "the thread has ended");
	errno = why;
	if (why == EPERM)
		return err_set(
			e, ERR_SYS,
			"the kernel does not let us trace process %d: it may have made itself "
			"undumpable, or kernel.yama.ptrace_scope must be 0",
			(int)w->pid);
	return err_sys(e, "ptrace of process %d", (int)w->pid);
}

/*
 * The caller compares the start time again after the seizure. From then on the process cannot be
 * reaped unseen, so that its pid remains valid.
 */
static int seize(const struct who *w, struct err *e)
{
	int rc = who_check(w, e);

	if (rc)
		return rc;
	if (ptrace(PTRACE_SEIZE, w->tid, NULL, (void *)TRACEE_OPTIONS) == 0)
		return 0;
	rc = seize_error(w, e);
	return who_is_ours(w) ? 0 : rc;
}

/*
 * The kernel drops a leader without a report when exec of another thread has replaced it. The
 * thread that has its number now is not held. A program that is being started is not interrupted.
 */
static bool has_vanished(struct tracee *t)
{
	if (t->birth || ptrace(PTRACE_INTERRUPT, t->who.tid, NULL, NULL) == 0) {
		t->is_asked = !t->birth;
		return false;
	}
	return errno == ESRCH;
}

int tracee_get(struct tracees *s, const struct who *w, struct tracee **out, struct err *e)
{
	struct tracee *t = map_find(&s->by_tid, (uint64_t)w->tid);
	int rc;

	if (t && has_vanished(t)) {
		tracee_forget(s, t, "the process has called exec");
		t = NULL;
	}
	if (t && t->who.pid == w->pid && t->who.start == w->start) {
		*out = t;
		return 0;
	}
	if (t)
		return err_set(e, ERR_AGAIN, "another process had that pid a moment ago");
	t = tracee_add(s, w, e);
	if (!t)
		return e->code == ERR_LIMIT ? -ERR_LIMIT : -ERR_NOMEM;
	rc = seize(w, e);
	if (!rc && who_start(w->pid) != w->start) {
		/*
		 * Another process has the pid now: it remains in the table until it has stopped and
		 * is released.
		 */
		tracee_ask(t);
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	}
	if (rc) {
		tracee_forget(s, t, "");
		return rc;
	}
	*out = t;
	return 0;
}

/* A stop that no work waits for is harmless: the thread continues at once. */
void tracee_ask(struct tracee *t)
{
	if (!t->is_asked && ptrace(PTRACE_INTERRUPT, t->who.tid, NULL, NULL) == 0)
		t->is_asked = true;
}

int tracees_do(struct tracees *s, struct work **take, struct err *e)
{
	struct work *w = *take;
	struct tracee *t;
	int rc = tracee_get(s, &w->who, &t, e);

	if (rc)
		return rc;
	if (t->birth)
		return err_set(e, ERR_AGAIN, "the process is being created");
	*take = NULL;
	w->until = loop_now(s->loop) + TRACEES_STOP_MAX_NS;
	list_push_back(&t->works, &w->link);
	tracee_ask(t);
	tracees_wake_at(s, w->until);
	return 0;
}
