/* SPDX-License-Identifier: Apache-2.0 */
#include "model/simulate/internal.h"

/* A change of how much is in use. The least of that and of the servers is busy. */
void server_add(struct world *w, struct server *s, unsigned most, int change)
{
	s->busy.sum += s->busy.value * (w->now - s->busy.since);
	s->busy.since = w->now;
	s->in_use = (unsigned)((int)s->in_use + change);
	s->busy.value = s->in_use < most ? s->in_use : most;
}

double level_take(const struct world *w, struct level *l)
{
	double sum = l->sum + l->value * (w->now - l->since);

	l->since = w->now;
	l->sum = 0;
	return sum;
}

int world_schedule(struct world *w, double at, enum event_kind kind, uint32_t to, uint64_t number)
{
	struct event v = {
		.seq = w->seq++, .what = (void *)(uintptr_t)number, .kind = kind, .to = to
	};
	int rc;

	event_set_time(&v, at);
	rc = events_add(&w->queue, &v);
	return rc ? err_set(w->e, (enum err_code) - rc, "too many events at a time") : 0;
}

struct event world_next(struct world *w)
{
	struct event v = events_take(&w->queue);

	w->now = event_time(&v);
	return v;
}

void line_put(struct world *w, struct line *q, uint32_t job)
{
	w->job[job].next = NO_JOB;
	if (q->first == NO_JOB)
		q->first = job;
	else
		w->job[q->last].next = job;
	q->last = job;
}

uint32_t line_take(struct world *w, struct line *q)
{
	uint32_t job = q->first;

	if (job != NO_JOB)
		q->first = w->job[job].next;
	return job;
}
