/* SPDX-License-Identifier: Apache-2.0 */
/* The life of an invocation: it waits for a thread, then alternates between slices and calls. */
#include "common/base/array.h"
#include "model/simulate/internal.h"

static const struct layered_task *task_of(const struct world *w, uint32_t job)
{
	return &w->m->task[w->m->entry[w->job[job].entry].task];
}

/* Threads of a task, or its clients. */
static unsigned threads_of(const struct layered_task *t)
{
	return t->is_infinite ? UINT32_MAX : t->threads;
}

static int job_new(struct world *w, uint32_t entry, uint32_t *out)
{
	int rc = 0;

	*out = w->unused;
	if (w->unused != NO_JOB) {
		w->unused = w->job[w->unused].next;
	} else {
		rc = array_grow(&w->job, &w->job_cap, w->njob + 1, sizeof(*w->job),
				SIMULATE_JOBS_MAX);
		*out = (uint32_t)w->njob;
		w->njob += !rc;
	}
	if (rc == -ERR_NOMEM)
		return err_nomem(w->e);
	if (rc)
		return err_set(w->e, ERR_LIMIT,
			       "no steady state: more than %d requests wait, the last one for "
			       "'%s'",
			       SIMULATE_JOBS_MAX, w->m->entry[entry].name);
	w->job[*out] = (struct job){
		.next = NO_JOB, .caller = NO_JOB, .entry = entry, .origin = NO_JOB, .born = w->now
	};
	return 0;
}

static void job_free(struct world *w, uint32_t job)
{
	w->job[job].next = w->unused;
	w->unused = job;
}

static const struct part *part_of(const struct world *w, uint32_t job)
{
	return &w->entry[w->job[job].entry].part[w->job[job].phase];
}

static int begin_phase(struct world *w, uint32_t job)
{
	struct job *j = &w->job[job];
	const struct part *p = part_of(w, job);

	j->call = 0;
	j->left = p->n ? w->m->call[w->call[p->first]].count[j->phase] : 0;
	if (p->think > 0)
		return world_schedule(w, w->now + p->think * draw_exponential(&w->rng),
				      EVENT_THOUGHT, job, 0);
	return world_schedule(w, w->now, EVENT_STEP, job, 0);
}

/* The job gets a thread. */
static int begin(struct world *w, uint32_t job)
{
	w->job[job].began = w->now;
	w->job[job].phase = 0;
	return begin_phase(w, job);
}

/* A message reaches its task. */
static int deliver(struct world *w, uint32_t job)
{
	const struct layered_task *t = task_of(w, job);
	struct server *s = &w->task[t - w->m->task];

	if (s->in_use >= threads_of(t)) {
		line_put(w, &s->waiting, job);
		return 0;
	}
	server_add(w, s, threads_of(t), 1);
	return begin(w, job);
}

static int send(struct world *w, const struct layered_call *c, uint32_t caller)
{
	uint32_t job;
	int rc = job_new(w, (uint32_t)c->to, &job);

	if (rc)
		return rc;
	w->job[job].caller = caller;
	return deliver(w, job);
}

static void note(struct values *v, double x)
{
	moments_add(&v->moments, x);
	batches_add(&v->batches, x);
}

/* Another entry finishes the request, with the same caller. */
static int forward(struct world *w, uint32_t job, const struct layered_call *c)
{
	uint32_t next;
	int rc = job_new(w, (uint32_t)c->to, &next);

	if (rc)
		return rc;
	w->job[next].caller = w->job[job].caller;
	w->job[next].origin = w->job[job].origin;
	w->job[next].born = w->job[job].born;
	w->job[job].caller = w->job[job].origin = NO_JOB;
	return deliver(w, next);
}

static int reply(struct world *w, uint32_t job)
{
	struct job *j = &w->job[job];
	uint32_t caller = j->caller;

	if (j->origin != NO_JOB) {
		note(&w->response[w->m->ntask + j->origin], w->now - j->born);
		w->completions++;
	}
	j->caller = j->origin = NO_JOB;
	return caller == NO_JOB ? 0 : world_schedule(w, w->now, EVENT_STEP, caller, 0);
}

/* The end of the first phase: a reply, or an entry that will send it. */
static int answer(struct world *w, uint32_t job)
{
	const struct invoked *v = &w->entry[w->job[job].entry];
	double u = v->nforward ? rng_double(&w->rng) : 1;

	for (uint32_t i = 0; i < v->nforward && u < v->forwards; i++) {
		const struct layered_call *c = &w->m->call[w->call[v->forward + i]];

		if (u < c->count[0] || i + 1 == v->nforward)
			return forward(w, job, c);
		u -= c->count[0];
	}
	return reply(w, job);
}

/* The end of an invocation: the next message gets the thread. */
static int finish(struct world *w, uint32_t job)
{
	size_t entry = w->job[job].entry, task = w->m->entry[entry].task;
	const struct layered_task *t = &w->m->task[task];
	struct server *s = &w->task[task];
	uint32_t next;

	note(&w->hold[entry], w->now - w->job[job].began);
	w->entry_count[entry].n++;
	w->task_count[task].n++;
	if (t->is_reference)
		note(&w->response[task], w->now - w->job[job].began);
	job_free(w, job);
	if (t->is_reference) {
		w->completions++;
		server_add(w, s, t->threads, -1);
		return job_begin_cycle(w, (uint32_t)task);
	}
	next = line_take(w, &s->waiting);
	if (next != NO_JOB)
		return begin(w, next);
	server_add(w, s, threads_of(t), -1);
	return 0;
}

static int end_phase(struct world *w, uint32_t job)
{
	const struct part *second = &w->entry[w->job[job].entry].part[1];
	int rc = w->job[job].phase ? 0 : answer(w, job);

	if (rc)
		return rc;
	if (w->job[job].phase || !(second->slice + second->think + second->calls > 0))
		return finish(w, job);
	w->job[job].phase = 1;
	return begin_phase(w, job);
}

/* Returns the next call of an invocation, or NULL. */
static const struct layered_call *next_call(struct world *w, uint32_t job)
{
	const struct part *p = part_of(w, job);
	struct job *j = &w->job[job];
	double u;

	if (p->is_fixed) {
		while (j->call < p->n && j->left < 1)
			j->left = ++j->call < p->n
					  ? w->m->call[w->call[p->first + j->call]].count[j->phase]
					  : 0;
		j->left--;
		return j->call < p->n ? &w->m->call[w->call[p->first + j->call]] : NULL;
	}
	u = rng_double(&w->rng) * (1 + p->calls) - 1;
	for (uint32_t i = 0; u >= 0 && i < p->n; i++) {
		const struct layered_call *c = &w->m->call[w->call[p->first + i]];

		u -= c->count[j->phase];
		if (u < 0 || i + 1 == p->n)
			return c;
	}
	return NULL;
}

int job_on_served(struct world *w, uint32_t job)
{
	const struct layered_call *c = next_call(w, job);
	int rc;

	if (!c)
		return end_phase(w, job);
	if (c->kind == LAYERED_WAIT)
		return send(w, c, job);
	rc = send(w, c, NO_JOB);
	return rc ? rc : world_schedule(w, w->now, EVENT_STEP, job, 0);
}

int job_on_step(struct world *w, uint32_t job)
{
	const struct part *p = part_of(w, job);

	if (!(p->slice > 0))
		return job_on_served(w, job);
	w->job[job].need = p->slice * shape_draw(&p->shape, &w->rng);
	return processor_request(w, job);
}

/* A delay of a phase is over, or the think time of a client. */
int job_on_thought(struct world *w, uint32_t job)
{
	const struct layered_task *t = task_of(w, job);

	if (!t->is_reference || w->job[job].began >= 0)
		return world_schedule(w, w->now, EVENT_STEP, job, 0);
	server_add(w, &w->task[t - w->m->task], t->threads, 1);
	return begin(w, job);
}

int job_begin_cycle(struct world *w, uint32_t task)
{
	const struct server *s = &w->task[task];
	uint32_t job, which = s->entries > 1 ? (uint32_t)rng_below(&w->rng, s->entries) : 0;
	int rc = job_new(w, s->first + which, &job);

	if (rc)
		return rc;
	w->job[job].began = -1;
	return world_schedule(w, w->now + w->m->task[task].think * draw_exponential(&w->rng),
			      EVENT_THOUGHT, job, 0);
}

int job_on_arrival(struct world *w, uint32_t entry)
{
	double rate = w->m->entry[entry].arrivals;
	uint32_t job;
	int rc = world_schedule(w, w->now + draw_exponential(&w->rng) / rate, EVENT_ARRIVAL, entry,
				0);

	if (!rc)
		rc = job_new(w, entry, &job);
	if (rc)
		return rc;
	w->job[job].origin = entry;
	return deliver(w, job);
}
