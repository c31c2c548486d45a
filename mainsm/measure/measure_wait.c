/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiters for a measurement. A callback continues a tool's request, which may delete this
 * measurement or any other. So it is called from the loop, when no function uses a measurement.
 */
#include "common/base/str.h"
#include "mainsm/measure/measure_internal.h"

#include <stdlib.h>

int measure_wait(struct measure *m, const struct measure_waiter *waiter)
{
	struct measure_waiter *w = malloc(sizeof(*w));

	if (!w)
		return -ERR_NOMEM;
	*w = *waiter;
	list_push_back(&m->waiters, &w->in_waiters);
	return 0;
}

static bool is_reader(const struct measure_waiter *w, int64_t read)
{
	return w->on_read && w->read <= read;
}

bool measure_has_readers(const struct measure *m, int64_t read)
{
	list_each (i, &m->waiters)
		if (is_reader(list_entry(i, struct measure_waiter, in_waiters), read))
			return true;
	return false;
}

static void waiter_free(struct measure_waiter *w)
{
	list_del(&w->in_waiters);
	free(w->values);
	free(w);
}

static void call_ready(void *arg)
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

static void post_ready(struct measures *ms)
{
	if (!list_is_empty(&ms->ready))
		loop_job_post(ms->conf.loop, &ms->calling, call_ready, ms);
}

static void is_ready(struct measure *m, struct measure_waiter *w)
{
	list_del(&w->in_waiters);
	list_push_back(&m->ms->ready, &w->in_waiters);
}

void measure_ready_loaded(struct measure *m)
{

	list_each_safe (i, &m->waiters) {
		struct measure_waiter *w = list_entry(i, struct measure_waiter, in_waiters);

		if (!w->on_read)
			is_ready(m, w);
	}
	post_ready(m->ms);
}

void measure_ready_read(struct measure *m, int64_t read, const char *values)
{
	list_each_safe (i, &m->waiters) {
		struct measure_waiter *w = list_entry(i, struct measure_waiter, in_waiters);

		if (!is_reader(w, read))
			continue;
		w->values = str_dup(values);
		is_ready(m, w);
	}
	post_ready(m->ms);
}

static void forget(struct list *waiters, const void *arg)
{
	list_each_safe (i, waiters) {
		struct measure_waiter *w = list_entry(i, struct measure_waiter, in_waiters);

		if (w->arg == arg)
			waiter_free(w);
	}
}

void measures_forget_waiter(struct measures *ms, const char *token, void *arg)
{
	struct measure *m = smap_find(&ms->by_token, token);

	if (m)
		forget(&m->waiters, arg);
	forget(&ms->ready, arg);
}

void measure_drop_waiters(struct measure *m)
{
	measure_ready_read(m, INT64_MAX, NULL);
	measure_ready_loaded(m);
}

void measures_drop_ready(struct measures *ms)
{
	loop_job_cancel(&ms->calling);
	for (struct list *i = list_first(&ms->ready); i; i = list_first(&ms->ready))
		waiter_free(list_entry(i, struct measure_waiter, in_waiters));
}
