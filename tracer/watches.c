/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that are held for their events. */
#include "common/base/limits.h"
#include "tracer/tracees_internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

struct watch *watch_find(const struct tracees *s, int32_t pid)
{
	list_each (i, &s->watches)
		if (list_entry(i, struct watch, link)->pid == pid)
			return list_entry(i, struct watch, link);
	return NULL;
}

static bool is_all(const struct watch *w)
{
	for (size_t i = 0; i < TRACER_SYSCALL_WORDS; i++)
		if (w->syscalls[i])
			return false;
	return true;
}

bool watch_wants_syscall(const struct watch *w, uint32_t what, int64_t number)
{
	if (!(w->what & what))
		return false;
	if (number < 0 || number >= TRACER_SYSCALLS_MAX)
		return is_all(w);
	return w->syscalls[number / 64] >> (number % 64) & 1 || is_all(w);
}

bool watch_wants_signal(const struct watch *w, int sig)
{
	if (!(w->what & TRACER_SIGNAL) || sig < 1 || sig > 64)
		return false;
	return !w->signals || w->signals >> (sig - 1) & 1;
}

/* All threads stop once more and are released then, except those already stopped. */
static void drop(struct tracees *s, struct watch *w)
{
	for (struct map_iter i = { 0 }; map_next(&s->by_tid, &i);) {
		struct tracee *t = i.value;

		if (t->watch != w)
			continue;
		t->watch = NULL;
		tracee_ask(t);
	}
	list_del(&w->link);
	free(w);
}

void watch_end(struct tracees *s, struct watch *w, uint64_t dropped, const char *why)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));

	if (m) {
		m->type = TRACER_WATCH_ENDED;
		m->id = w->id;
		m->pid = w->pid;
		m->start = w->start;
		m->text[m->ntext++] = why;
		m->nvalue = dropped > 0;
		m->value[0] = dropped;
		line_answer(s->line, m);
	}
	free(m);
	drop(s, w);
}

/* Each stop costs the program some microseconds, even if it is not needed. */
bool watch_counts(struct tracees *s, struct tracee *t)
{
	nsec_t second = loop_now(s->loop) / NSEC_PER_SEC;

	if (second != s->window) {
		s->window = second;
		s->events = 0;
	}
	if (++s->events <= TRACE_EVENTS_PER_SEC_MAX)
		return true;
	s->events = 0;
	watch_end(s, t->watch, 0, "its events came too fast: it would have been slowed down");
	return false;
}

static int hold(struct tracees *s, struct watch *w, int32_t tid, struct err *e)
{
	struct tracee *t;
	int rc = tracee_get(s, &(struct who){ w->pid, tid, w->start }, &t, e);

	if (rc)
		return rc;
	t->watch = w;
	tracee_ask(t);
	return 0;
}

/* One scan. *found: number of threads that were not held before. */
static int hold_threads(struct tracees *s, struct watch *w, size_t *found, struct err *e)
{
	char path[40];
	struct dirent *d;
	int rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)w->pid);
	dir = opendir(path);
	if (!dir)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	while (!rc && (d = readdir(dir))) {
		int32_t tid = (int32_t)strtol(d->d_name, NULL, 10);
		const struct tracee *t = map_find(&s->by_tid, (uint64_t)tid);

		if (tid <= 1 || (t && t->watch == w))
			continue;
		rc = hold(s, w, tid, e);
		if (rc == -ERR_NOTFOUND)
			/*
			 * the thread has ended in between; a leader may do so long before the
			 * others
			 */
			rc = 0;
		else
			++*found;
	}
	closedir(dir);
	return rc;
}

static struct watch *watch_new(struct tracees *s, const struct tracer_msg *m, struct err *e)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w) {
		err_nomem(e);
		return NULL;
	}
	w->pid = m->pid;
	w->start = m->start;
	list_push_back(&s->watches, &w->link);
	return w;
}

static bool holds_any(const struct tracees *s, const struct watch *w)
{
	for (struct map_iter i = { 0 }; map_next(&s->by_tid, &i);)
		if (((struct tracee *)i.value)->watch == w)
			return true;
	return false;
}

static void ask_all(struct tracees *s, const struct watch *w)
{
	for (struct map_iter i = { 0 }; map_next(&s->by_tid, &i);)
		if (((struct tracee *)i.value)->watch == w)
			tracee_ask(i.value);
}

int tracees_watch(struct tracees *s, const struct tracer_msg *m, struct err *e)
{
	struct watch *w = watch_find(s, m->pid);
	size_t found = 1;
	int rc = 0;

	if (w && (!m->what || w->start != m->start)) {
		drop(s, w);
		w = NULL;
	}
	if (!m->what)
		return 0;
	if (!w)
		w = watch_new(s, m, e);
	if (!w)
		return -ERR_NOMEM;
	w->id = m->id;
	w->what = m->what;
	w->signals = m->value[0];
	memcpy(w->syscalls, m->value + 1, sizeof(w->syscalls));
	/* Threads that those not yet held have made in between are found by the next look. */
	for (int look = 0; !rc && found && look < 10; look++) {
		found = 0;
		rc = hold_threads(s, w, &found, e);
	}
	if (!rc && !holds_any(s, w))
		rc = err_set(e, ERR_NOTFOUND, "the process has ended");
	if (rc)
		drop(s, w);
	else
		ask_all(s, w);
	return rc;
}
