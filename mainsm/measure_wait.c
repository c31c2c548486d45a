/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for a measurement. What is told goes on with a tool's request, which may delete this
 * measurement or any other: so it is told from the loop, when nobody is at work on one.
 */
#include "common/base/str.h"
#include "mainsm/measure_internal.h"

#include <stdlib.h>

int measure_wait(struct measure *m, void (*on_loaded)(void *arg), void (*on_read)(void *arg, const char *values),
		 void *arg)
{
	struct measure_waiter *w = calloc(1, sizeof(*w));

	if (!w)
		return -ERR_NOMEM;
	w->on_loaded = on_loaded;
	w->on_read = on_read;
	w->arg = arg;
	list_push_back(&m->waiters, &w->in_waiters);
	return 0;
}

bool measure_has_readers(const struct measure *m)
{
	list_each(i, &m->waiters)
		if (list_entry(i, struct measure_waiter, in_waiters)->on_read)
			return true;
	return false;
}

static void waiter_free(struct measure_waiter *w)
{
	list_del(&w->in_waiters);
	free(w->values);
	free(w);
}

static void tell_all(void *arg)
{
	struct measures *ms = arg;

	for (struct list *i = list_first(&ms->ready); i; i = list_first(&ms->ready)) {
		struct measure_waiter *w = list_entry(i, struct measure_waiter, in_waiters);
		struct measure_waiter copy = *w;

		w->values = NULL;
		waiter_free(w);
		if (copy.on_read)
			copy.on_read(copy.arg, copy.values);
		else
			copy.on_loaded(copy.arg);
		free(copy.values);
	}
}

void measure_ready(struct measure *m, bool readers, const char *values)
{
	struct measures *ms = m->ms;

	list_each_safe(i, &m->waiters) {
		struct measure_waiter *w = list_entry(i, struct measure_waiter, in_waiters);

		if ((w->on_read != NULL) != readers)
			continue;
		w->values = str_dup(values);
		list_del(i);
		list_push_back(&ms->ready, i);
	}
	if (!list_is_empty(&ms->ready))
		loop_job_post(ms->conf.loop, &ms->telling, tell_all, ms);
}

static void forget(struct list *waiters, const void *arg)
{
	list_each_safe(i, waiters) {
		struct measure_waiter *w = list_entry(i, struct measure_waiter, in_waiters);

		if (w->arg == arg)
			waiter_free(w);
	}
}

void measures_forget_waiter(struct measures *ms, const char *token, void *arg)
{
	struct measure *m = measures_find(ms, token);

	if (m)
		forget(&m->waiters, arg);
	forget(&ms->ready, arg);
}

void measures_drop_ready(struct measures *ms)
{
	loop_job_cancel(&ms->telling);
	for (struct list *i = list_first(&ms->ready); i; i = list_first(&ms->ready))
		waiter_free(list_entry(i, struct measure_waiter, in_waiters));
}
