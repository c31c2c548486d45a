/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often each entry is invoked, how long an invocation holds its thread, and what tasks ask of
 * stations. Holding times have a variance. Numbers of calls vary, and each visit of a station has
 * its own variance.
 */
#include "model/layered/internal.h"

#include <math.h>
#include <string.h>

bool solver_is_shared(const struct solver *w, size_t station)
{
	return station >= w->m->ntask &&
	       w->m->processor[station - w->m->ntask].kind == STATION_SHARED;
}

struct station solver_station(const struct solver *w, size_t station)
{
	if (station >= w->m->ntask) {
		const struct layered_processor *p = &w->m->processor[station - w->m->ntask];

		return (struct station){ .kind = p->kind, .servers = p->servers };
	}
	if (w->m->task[station].is_infinite)
		return (struct station){ .kind = STATION_DELAY, .servers = 1 };
	return (struct station){ .kind = STATION_FCFS,
				 .servers = w->threads[station],
				 .slower = w->slower[station],
				 .levels = w->levels[station] };
}

static double speed(const struct solver *w, size_t entry)
{
	return w->m->processor[w->m->task[w->m->entry[entry].task].processor].speed;
}

double flow_own_time(const struct solver *w, size_t entry)
{
	const struct layered_entry *v = &w->m->entry[entry];

	return (v->phase[0].demand + v->phase[1].demand) / speed(w, entry);
}

static double share(const struct solver *w, size_t entry)
{
	double all = w->out->task_throughput[w->m->entry[entry].task];

	return all > 0 ? w->out->entry_throughput[entry] / all : 0;
}

double flow_busy(const struct solver *w, size_t station)
{
	const struct layered *m = w->m;
	bool is_task = station < m->ntask;
	double sum = 0;

	for (size_t i = 0; i < m->nentry; i++) {
		size_t t = m->entry[i].task;

		if (is_task ? t == station : m->task[t].processor == station - m->ntask)
			sum += w->out->entry_throughput[i] *
			       (is_task ? w->out->entry_service[i] : flow_own_time(w, i));
	}
	return sum;
}

/* --- throughputs */

void flow_compute(struct solver *w)
{
	const struct layered *m = w->m;
	double *x = w->out->entry_throughput;

	for (size_t i = 0; i < m->nentry; i++) {
		const struct layered_task *t = &m->task[m->entry[i].task];
		size_t entries = 0;

		for (size_t j = 0; t->is_reference && j < m->nentry; j++)
			entries += m->entry[j].task == m->entry[i].task;
		x[i] = entries ? w->out->task_throughput[m->entry[i].task] / (double)entries
			       : w->arrivals[i];
	}
	for (size_t layer = 0; layer < w->nlayer; layer++)
		for (size_t i = 0; i < w->ncall; i++) {
			const struct layered_call *c = &w->call[i];

			if (m->task[m->entry[c->from].task].layer == layer)
				x[c->to] += x[c->from] * (c->count[0] + c->count[1]);
		}
	for (size_t i = 0; i < m->ntask; i++)
		if (!m->task[i].is_reference)
			w->out->task_throughput[i] = 0;
	for (size_t i = 0; i < m->nentry; i++)
		if (!m->task[m->entry[i].task].is_reference)
			w->out->task_throughput[m->entry[i].task] += x[i];
}

/* --- holding times */

/* The mean and variance of a visit: a wait, then a service. */
static void visit(double wait, double service, double variance, double *mean, double *spread)
{
	*mean = service + wait;
	/* a wait is about exponential, and longer services come with longer waits */
	*spread = fmax(variance + 2 * service * wait + wait * fabs(wait), 0);
}

/* Sums over the calls of a phase. */
struct calls {
	double mean, square; /* of the times of all calls */
	double spread; /* of fixed numbers of them */
};

static void add_call(const struct solver *w, const struct layered_call *c, size_t p,
		     struct calls *sum)
{
	size_t task = w->m->entry[c->from].task, at = c->to * LAYERED_PHASES;
	double wait = w->asked.wait[asked_at(w, task, w->m->entry[c->to].task)], mean, spread;

	visit(wait, w->hold[at], w->spread[at], &mean, &spread);
	sum->mean += c->count[p] * mean;
	sum->square += c->count[p] * (spread + mean * mean);
	sum->spread += c->count[p] * spread;
}

static void set_hold(struct solver *w, size_t entry, size_t p, const struct calls *sum)
{
	const struct layered_phase *v = &w->m->entry[entry].phase[p];
	size_t t = w->m->entry[entry].task, station = w->m->ntask + w->m->task[t].processor;
	size_t at = entry * LAYERED_PHASES + p;
	double y = w->calls[at], slice = v->demand / speed(w, entry) / (1 + y), mean = 0;
	double wait = w->asked.wait[asked_at(w, t, station)], spread = 0, each, was = w->hold[at];

	if (slice > 0)
		visit(solver_is_shared(w, station) ? slice * wait : wait, slice,
		      v->cv2 * slice * slice, &mean, &spread);
	w->hold[at] = v->think + (1 + y) * mean + sum->mean;
	w->spread[at] = v->think * v->think + (1 + y) * spread;
	each = y > 0 ? sum->mean / y : 0;
	if (v->is_fixed)
		w->spread[at] += sum->spread;
	else
		w->spread[at] +=
			sum->square - y * each * each + y * (1 + y) * (mean + each) * (mean + each);
	w->change = fmax(w->change, fabs(w->hold[at] - was) / fmax(w->hold[at], 1e-300));
}

/* Deeper layers first: holding times of callers contain those of the called. */
static void hold(struct solver *w)
{
	const struct layered *m = w->m;

	for (size_t layer = w->nlayer; layer-- > 0;)
		for (size_t i = 0; i < m->nentry; i++) {
			struct calls sum[LAYERED_PHASES] = { 0 };

			if (m->task[m->entry[i].task].layer != layer)
				continue;
			for (size_t j = w->first[i]; j < w->first[i + 1]; j++)
				for (size_t p = 0; p < LAYERED_PHASES; p++)
					if (w->call[w->order[j]].kind == LAYERED_WAIT)
						add_call(w, &w->call[w->order[j]], p, &sum[p]);
			for (size_t p = 0; p < LAYERED_PHASES; p++)
				set_hold(w, i, p, &sum[p]);
			w->out->entry_service[i] =
				w->hold[i * LAYERED_PHASES] + w->hold[i * LAYERED_PHASES + 1];
		}
	memset(w->cycle, 0, m->ntask * sizeof(double));
	for (size_t i = 0; i < m->nentry; i++)
		w->cycle[m->entry[i].task] += share(w, i) * w->out->entry_service[i];
}

double flow_think(const struct solver *w, size_t task)
{
	double sum = 0;

	for (size_t i = 0; i < w->m->nentry; i++)
		if (w->m->entry[i].task == task)
			sum += share(w, i) *
			       (w->m->entry[i].phase[0].think + w->m->entry[i].phase[1].think);
	return sum;
}

double flow_at_station(const struct solver *w, size_t task, size_t station)
{
	size_t at = asked_at(w, task, station);
	double wait = w->flat.wait[at], v = w->flat.visits[at], s = w->flat.service[at];

	return solver_is_shared(w, station) ? v * s * (1 + wait) : v * (s + wait);
}

/* --- what each task asks of each station in a cycle */

struct visit {
	double service, after, square; /* the mean square of both together */
};

/* Sums, whose means are computed at the end; cv2 has squares first. */
static void ask(struct solver *w, size_t at, double visits, const struct visit *v)
{
	w->asked.visits[at] += visits;
	w->asked.service[at] += visits * v->service;
	w->asked.after[at] += visits * v->after;
	w->asked.cv2[at] += visits * v->square;
}

static void ask_entry(struct solver *w, size_t at, double visits, size_t entry)
{
	size_t h = entry * LAYERED_PHASES;
	double all = w->hold[h] + w->hold[h + 1];
	const struct visit v = { w->hold[h], w->hold[h + 1],
				 all * all + w->spread[h] + w->spread[h + 1] };

	ask(w, at, visits, &v);
}

static void ask_processor(struct solver *w, size_t entry)
{
	const struct layered_entry *v = &w->m->entry[entry];
	size_t at = asked_at(w, v->task, w->m->ntask + w->m->task[v->task].processor);

	for (size_t p = 0; p < LAYERED_PHASES; p++) {
		double n = 1 + w->calls[entry * LAYERED_PHASES + p];
		double slice = v->phase[p].demand / speed(w, entry) / n;
		const struct visit each = { slice, 0, slice * slice * (1 + v->phase[p].cv2) };

		if (slice > 0)
			ask(w, at, share(w, entry) * n, &each);
	}
}

static void demand(struct solver *w)
{
	const struct layered *m = w->m;
	size_t size = 2 * m->ntask * w->n;

	asking_clear(&w->asked, size);
	memset(w->rate, 0, m->ntask * sizeof(double));
	for (size_t i = 0; i < m->nentry; i++) {
		size_t t = m->entry[i].task;

		ask_processor(w, i);
		if (w->arrivals[i] > 0)
			ask_entry(w, asked_at(w, m->ntask + t, t), w->arrivals[i], i);
	}
	for (size_t i = 0; i < w->ncall; i++) {
		const struct layered_call *c = &w->call[i];
		size_t from = m->entry[c->from].task, to = m->entry[c->to].task;
		double count = c->count[0] + c->count[1];

		if (c->kind == LAYERED_WAIT)
			ask_entry(w, asked_at(w, from, to), share(w, c->from) * count, c->to);
		else
			ask_entry(w, asked_at(w, m->ntask + to, to),
				  w->out->entry_throughput[c->from] * count, c->to);
	}
	for (size_t at = 0; at < size; at++) {
		double v = w->asked.visits[at], all = w->asked.service[at] + w->asked.after[at];

		if (!(v > 0))
			continue;
		w->asked.cv2[at] = all > 0 ? fmax(w->asked.cv2[at] * v / all / all - 1, 0) : 1;
		w->asked.service[at] /= v;
		w->asked.after[at] /= v;
	}
	for (size_t t = 0; t < m->ntask; t++) {
		double *v = &w->asked.visits[asked_at(w, m->ntask + t, t)];

		w->rate[t] = *v;
		*v = *v > 0;
	}
}

void flow_renew(struct solver *w)
{
	w->work += (double)w->nlayer * (double)(w->m->nentry + w->ncall) +
		   2 * (double)w->m->ntask * (double)w->n;
	pass_waits(w);
	hold(w);
	demand(w);
	pass_compute(w);
}
