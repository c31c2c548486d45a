/* SPDX-License-Identifier: Apache-2.0 */
#include "model/simulate/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* cycles of the initial part, and as many more for each client */
#define WARM_CYCLES 1000
#define WARM_CYCLES_EACH 10
#define WARM_WINDOWS 10 /* in the initial part: a window has a hundred cycles then */
#define WINDOWS_MIN 32 /* fewer windows give no reliable interval */
#define TURN_EVENTS 65536 /* some 20 ms */

struct run {
	struct world w;
	const struct simulate_options *o;
	struct simulate_result *out;
	double window, end; /* length; end of the open window */
	uint64_t windows, warm;
	double began; /* the end of the initial part */
};

void simulate_result_done(struct simulate_result *r)
{
	free(r->task_throughput);
	free(r->task_busy);
	free(r->task_response);
	free(r->entry_service);
	free(r->entry_throughput);
	free(r->entry_response);
	free(r->processor_busy);
	*r = (struct simulate_result){ 0 };
}

static int result_init(const struct layered *m, struct simulate_result *out)
{
	size_t size = sizeof(struct interval);

	*out = (struct simulate_result){
		.task_throughput = calloc(m->ntask + 1, size),
		.task_busy = calloc(m->ntask + 1, size),
		.task_response = calloc(m->ntask + 1, size),
		.entry_service = calloc(m->nentry + 1, size),
		.entry_throughput = calloc(m->nentry + 1, size),
		.entry_response = calloc(m->nentry + 1, size),
		.processor_busy = calloc(m->nprocessor + 1, size),
	};
	return out->task_throughput && out->task_busy && out->task_response && out->entry_service &&
			       out->entry_throughput && out->entry_response && out->processor_busy
		       ? 0
		       : -ERR_NOMEM;
}

static void world_done(struct world *w)
{
	for (size_t i = 0; w->processor && i < w->m->nprocessor; i++)
		events_done(&w->processor[i].finish);
	events_done(&w->queue);
	free(w->job);
	free(w->entry);
	free(w->call);
	free(w->task);
	free(w->processor);
	free(w->entry_count);
	free(w->task_count);
	free(w->hold);
	free(w->response);
}

/* Puts the calls of one phase of an entry behind the others; phase LAYERED_PHASES: its forwards. */
static uint32_t list_calls(struct world *w, size_t entry, size_t phase, uint32_t first, double *all)
{
	uint32_t n = 0;

	for (size_t i = 0; i < w->m->ncall; i++) {
		const struct layered_call *c = &w->m->call[i];
		bool is_forward = c->kind == LAYERED_FORWARD;
		size_t p = is_forward ? 0 : phase;

		if (c->from != entry || is_forward != (phase == LAYERED_PHASES) ||
		    !(c->count[p] > 0))
			continue;
		w->call[first + n++] = (uint32_t)i;
		*all += c->count[p];
	}
	return n;
}

static void prepare_entry(struct world *w, size_t i, uint32_t *first)
{
	const struct layered_entry *v = &w->m->entry[i];
	struct invoked *to = &w->entry[i];
	double speed = w->m->processor[w->m->task[v->task].processor].speed;

	for (size_t p = 0; p < LAYERED_PHASES; p++) {
		struct part *part = &to->part[p];

		part->first = *first;
		part->n = list_calls(w, i, p, *first, &part->calls);
		*first += part->n;
		part->slice = v->phase[p].demand / speed / (1 + part->calls);
		part->think = v->phase[p].think;
		part->is_fixed = v->phase[p].is_fixed;
		shape_init(&part->shape, v->phase[p].cv2);
	}
	to->forward = *first;
	to->nforward = list_calls(w, i, LAYERED_PHASES, *first, &to->forwards);
	*first += to->nforward;
	if (!w->task[v->task].entries++)
		w->task[v->task].first = (uint32_t)i;
}

static int world_init(struct world *w)
{
	const struct layered *m = w->m;
	uint32_t first = 0;

	w->unused = NO_JOB;
	w->entry = calloc(m->nentry + 1, sizeof(*w->entry));
	w->call = calloc(LAYERED_PHASES * m->ncall + 1, sizeof(*w->call));
	w->task = calloc(m->ntask + 1, sizeof(*w->task));
	w->processor = calloc(m->nprocessor + 1, sizeof(*w->processor));
	w->entry_count = calloc(m->nentry + 1, sizeof(*w->entry_count));
	w->task_count = calloc(m->ntask + 1, sizeof(*w->task_count));
	w->hold = calloc(m->nentry + 1, sizeof(*w->hold));
	w->response = calloc(m->ntask + m->nentry + 1, sizeof(*w->response));
	if (!w->entry || !w->call || !w->task || !w->processor || !w->entry_count ||
	    !w->task_count || !w->hold || !w->response)
		return -ERR_NOMEM;
	for (size_t i = 0; i < m->ntask; i++)
		w->task[i].waiting.first = NO_JOB;
	for (size_t i = 0; i < m->nprocessor; i++)
		w->processor[i].waiting.first = NO_JOB;
	for (size_t i = 0; i < m->nentry; i++)
		prepare_entry(w, i, &first);
	return 0;
}

/* All clients think, and the first requests are on their way. */
static int begin(struct world *w)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < w->m->ntask; i++)
		for (unsigned n = 0; !rc && w->m->task[i].is_reference && n < w->m->task[i].threads;
		     n++)
			rc = job_begin_cycle(w, (uint32_t)i);
	for (size_t i = 0; !rc && i < w->m->nentry; i++)
		if (w->m->entry[i].arrivals > 0)
			rc = world_schedule(w, draw_exponential(&w->rng) / w->m->entry[i].arrivals,
					    EVENT_ARRIVAL, (uint32_t)i, 0);
	return rc;
}

static int dispatch(struct world *w)
{
	struct event v = world_next(w);
	uint32_t job = v.to;
	int rc = 0;

	switch ((enum event_kind)v.kind) {
	case EVENT_STEP:
		return job_on_step(w, job);
	case EVENT_THOUGHT:
		return job_on_thought(w, job);
	case EVENT_ARRIVAL:
		return job_on_arrival(w, v.to);
	case EVENT_SERVED:
		rc = processor_on_served(w, job);
		break;
	case EVENT_SHARED:
		rc = processor_on_shared(w, v.to, (uint64_t)(uintptr_t)v.what, &job);
		break;
	}
	return rc || job == NO_JOB ? rc : job_on_served(w, job);
}

/* --- windows */

static void close_count(struct count *c, double window)
{
	batches_add(&c->rates, c->n / window);
	c->n = 0;
}

static void close_window(struct run *r)
{
	struct world *w = &r->w;

	w->now = r->end;
	for (size_t i = 0; i < w->m->ntask; i++) {
		close_count(&w->task_count[i], r->window);
		batches_add(&w->task[i].busies, level_take(w, &w->task[i].busy) / r->window);
	}
	for (size_t i = 0; i < w->m->nentry; i++)
		close_count(&w->entry_count[i], r->window);
	for (size_t i = 0; i < w->m->nprocessor; i++)
		batches_add(&w->processor[i].busies,
			    level_take(w, &w->processor[i].busy) / r->window);
	r->windows++;
	r->end += r->window;
}

/* Forgets the initial part. */
static void end_warm(struct run *r)
{
	struct world *w = &r->w;

	r->window = w->now / WARM_WINDOWS;
	r->began = w->now;
	r->end = w->now + r->window;
	for (size_t i = 0; i < w->m->ntask; i++) {
		w->task_count[i].n = 0;
		level_take(w, &w->task[i].busy);
	}
	for (size_t i = 0; i < w->m->nprocessor; i++)
		level_take(w, &w->processor[i].busy);
	memset(w->entry_count, 0, w->m->nentry * sizeof(*w->entry_count));
	memset(w->hold, 0, w->m->nentry * sizeof(*w->hold));
	memset(w->response, 0, (w->m->ntask + w->m->nentry) * sizeof(*w->response));
}

static bool is_precise(const struct run *r)
{
	const struct layered *m = r->w.m;

	if (r->windows < WINDOWS_MIN)
		return false;
	for (size_t i = 0; i < m->ntask + m->nentry; i++) {
		const struct values *v = &r->w.response[i];
		bool counts = i < m->ntask ? m->task[i].is_reference
					   : m->entry[i - m->ntask].arrivals > 0;

		if (counts && !stop_is_reached(&r->o->stop, &v->moments, &v->batches))
			return false;
	}
	return true;
}

/* Closes all windows that end before the next event. Returns true if the results are enough. */
static bool pass_windows(struct run *r)
{
	double at = event_time(events_first(&r->w.queue));

	while (at >= r->end) {
		close_window(r);
		if (is_precise(r))
			return true;
	}
	return false;
}

static int go(struct run *r)
{
	uint64_t most = r->o->events ? r->o->events : SIMULATE_EVENTS_MAX;
	struct world *w = &r->w;

	for (r->out->events = 0; r->out->events < most; r->out->events++) {
		int rc;

		if (r->window > 0 && pass_windows(r)) {
			r->out->is_precise = true;
			return 0;
		}
		rc = dispatch(w);
		if (rc)
			return rc;
		if (!(r->window > 0) && w->completions >= r->warm && w->now > 0)
			end_warm(r);
		if (r->out->events % TURN_EVENTS == 0 && r->o->on_turn &&
		    r->o->on_turn(r->o->arg, r->out->events, w->now))
			break;
	}
	if (r->windows)
		return 0;
	return err_set(w->e, ERR_LIMIT,
		       "%llu events are not enough for %llu cycles: a cycle is too long",
		       (unsigned long long)r->out->events, (unsigned long long)r->warm);
}

static void finish(struct run *r)
{
	const struct world *w = &r->w;
	double level = r->o->level;

	for (size_t i = 0; i < w->m->ntask; i++) {
		r->out->task_throughput[i] = interval_of_batches(&w->task_count[i].rates, level);
		r->out->task_busy[i] = interval_of_batches(&w->task[i].busies, level);
		r->out->task_response[i] = interval_of_batches(&w->response[i].batches, level);
	}
	for (size_t i = 0; i < w->m->nentry; i++) {
		r->out->entry_throughput[i] = interval_of_batches(&w->entry_count[i].rates, level);
		r->out->entry_service[i] = interval_of_batches(&w->hold[i].batches, level);
		r->out->entry_response[i] =
			interval_of_batches(&w->response[w->m->ntask + i].batches, level);
	}
	for (size_t i = 0; i < w->m->nprocessor; i++)
		r->out->processor_busy[i] = interval_of_batches(&w->processor[i].busies, level);
	r->out->time = w->now - r->began;
}

static int check(const struct layered *m, struct err *e)
{
	for (size_t i = 0; i < m->ntask; i++)
		if (m->task[i].is_reference && !isfinite(layered_bound(m, i)))
			return err_set(e, ERR_INVALID, "a cycle of '%s' takes no time",
				       m->task[i].name);
	return 0;
}

int simulate(const struct layered *m, const struct simulate_options *o, struct simulate_result *out,
	     struct err *e)
{
	struct run r = { .w = { .m = m, .e = e }, .o = o, .out = out, .warm = WARM_CYCLES };
	int rc;

	*out = (struct simulate_result){ 0 };
	rc = check(m, e);
	if (rc)
		return rc;
	for (size_t i = 0; i < m->ntask; i++)
		if (m->task[i].is_reference)
			r.warm += WARM_CYCLES_EACH * (uint64_t)m->task[i].threads;
	rng_init(&r.w.rng, o->seed);
	if (world_init(&r.w) || result_init(m, out))
		rc = err_nomem(e);
	out->seed = o->seed;
	if (!rc)
		rc = begin(&r.w);
	if (!rc)
		rc = go(&r);
	if (!rc)
		finish(&r);
	world_done(&r.w);
	return rc;
}
