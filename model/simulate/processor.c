/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processors. A shared one gives each of n jobs min(1, servers / n) of its speed. All jobs get the
 * same service in a time. So a job is done when their service has risen by its need.
 */
#include "model/simulate/internal.h"

#include <math.h>

static size_t processor_of(const struct world *w, uint32_t job)
{
	return w->m->task[w->m->entry[w->job[job].entry].task].processor;
}

static unsigned servers_of(const struct world *w, size_t p)
{
	const struct layered_processor *v = &w->m->processor[p];

	return v->kind == STATION_DELAY ? UINT32_MAX : v->servers;
}

/* The share of a server that each job has. */
static double rate(const struct world *w, size_t p)
{
	return fmin(1, (double)servers_of(w, p) / w->processor[p].in_use);
}

/* Takes the service since the last change into account. */
static void advance(struct world *w, size_t p)
{
	struct server *s = &w->processor[p];

	s->served = s->in_use ? s->served + (w->now - s->since) * rate(w, p) : 0;
	s->since = w->now;
}

/* Schedules the next completion; a former one becomes one of the past. */
static int plan(struct world *w, size_t p)
{
	struct server *s = &w->processor[p];
	const struct event *v = events_first(&s->finish);

	s->generation++;
	if (!v)
		return 0;
	return world_schedule(w, w->now + fmax(event_time(v) - s->served, 0) / rate(w, p),
			      EVENT_SHARED, (uint32_t)p, s->generation);
}

static int share(struct world *w, size_t p, uint32_t job)
{
	struct server *s = &w->processor[p];
	struct event v = { .seq = w->seq++, .to = job };
	int rc;

	advance(w, p);
	event_set_time(&v, s->served + w->job[job].need);
	rc = events_add(&s->finish, &v);
	if (rc)
		return err_set(w->e, (enum err_code) - rc, "too many requests share processor '%s'",
			       w->m->processor[p].name);
	server_add(w, s, servers_of(w, p), 1);
	return plan(w, p);
}

int processor_request(struct world *w, uint32_t job)
{
	size_t p = processor_of(w, job);
	struct server *s = &w->processor[p];

	if (w->m->processor[p].kind == STATION_SHARED)
		return share(w, p, job);
	server_add(w, s, servers_of(w, p), 1);
	if (s->in_use <= servers_of(w, p))
		return world_schedule(w, w->now + w->job[job].need, EVENT_SERVED, job, 0);
	line_put(w, &s->waiting, job);
	return 0;
}

int processor_on_served(struct world *w, uint32_t job)
{
	size_t p = processor_of(w, job);
	struct server *s = &w->processor[p];
	uint32_t next = line_take(w, &s->waiting);

	server_add(w, s, servers_of(w, p), -1);
	return next == NO_JOB
		       ? 0
		       : world_schedule(w, w->now + w->job[next].need, EVENT_SERVED, next, 0);
}

int processor_on_shared(struct world *w, uint32_t processor, uint64_t generation, uint32_t *job)
{
	struct server *s = &w->processor[processor];

	*job = NO_JOB;
	if (generation != s->generation)
		return 0;
	advance(w, processor);
	*job = events_take(&s->finish).to;
	server_add(w, s, servers_of(w, processor), -1);
	return plan(w, processor);
}
