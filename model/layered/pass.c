/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task with as many threads as there are callers holds up nothing. Its callers compete for what
 * is below it, so that they are clients of that in its place. Tasks that work for the same thread
 * do not compete at all (interlocking: Franks and Woodside 1998).
 */
#include "model/layered/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_TASKS_MAX 100 /* the cube of it is done in each round */

int asking_init(struct asked *a, size_t size)
{
	a->visits = calloc(size, sizeof(double));
	a->service = calloc(size, sizeof(double));
	a->after = calloc(size, sizeof(double));
	a->cv2 = calloc(size, sizeof(double));
	a->wait = calloc(size, sizeof(double));
	return a->visits && a->service && a->after && a->cv2 && a->wait ? 0 : -ERR_NOMEM;
}

void asking_clear(struct asked *a, size_t size)
{
	memset(a->visits, 0, size * sizeof(double));
	memset(a->service, 0, size * sizeof(double));
	memset(a->after, 0, size * sizeof(double));
	memset(a->cv2, 0, size * sizeof(double));
}

void asking_done(struct asked *a)
{
	free(a->visits);
	free(a->service);
	free(a->after);
	free(a->cv2);
	free(a->wait);
	*a = (struct asked){ 0 };
}

int pass_init(struct solver *w)
{
	size_t ntask = w->m->ntask;
	bool has_any = false;

	if (ntask <= GROUP_TASKS_MAX) {
		w->below = calloc(ntask * ntask, sizeof(double));
		if (!w->below)
			return -ERR_NOMEM;
	}
	for (size_t t = 0; t < ntask; t++)
		has_any = has_any || w->is_pass[t];
	if (!has_any)
		return 0;
	w->flat = (struct asked){ 0 };
	w->through = calloc(ntask * ntask, sizeof(double));
	return w->through ? asking_init(&w->flat, 2 * ntask * w->n + 1) : -ERR_NOMEM;
}

/* The parts of invocations of each task for which callers wait: all but second phases. */
static void first_parts(const struct solver *w, double part[GROUP_TASKS_MAX])
{
	const struct layered *m = w->m;
	double all[GROUP_TASKS_MAX] = { 0 };

	memset(part, 0, GROUP_TASKS_MAX * sizeof(*part));
	for (size_t i = 0; i < m->nentry; i++) {
		double x = w->out->entry_throughput[i];
		const double *hold = &w->hold[i * LAYERED_PHASES];

		part[m->entry[i].task] += x * hold[0];
		all[m->entry[i].task] += x * (hold[0] + hold[1]);
	}
	for (size_t t = 0; t < m->ntask; t++)
		part[t] = all[t] > 0 ? part[t] / all[t] : 1;
}

/* Deeper tasks first. */
void pass_below(struct solver *w)
{
	size_t n = w->m->ntask;
	double part[GROUP_TASKS_MAX];

	if (!w->below)
		return;
	first_parts(w, part);
	w->work += (double)n * (double)n * (double)n;
	memset(w->below, 0, n * n * sizeof(double));
	for (size_t layer = w->nlayer; layer-- > 0;)
		for (size_t t = 0; t < n; t++) {
			if (w->m->task[t].layer != layer)
				continue;
			w->below[t * n + t] = 1;
			for (size_t k = 0; k < n; k++) {
				double v = w->asked.visits[asked_at(w, t, k)];

				for (size_t j = 0; v > 0 && j < n; j++)
					w->below[t * n + j] +=
						v * (j == k ? 1 : part[k]) * w->below[k * n + j];
			}
		}
}

/* The share of the invocations of task t that come from a thread of task a. */
static double from(const struct solver *w, size_t a, size_t t)
{
	double all = w->out->task_throughput[t];

	return all > 0 ? fmin(w->out->task_throughput[a] * w->below[a * w->m->ntask + t] / all, 1)
		       : 0;
}

void pass_groups(const struct solver *w, struct layer *l)
{
	size_t n = w->m->ntask;
	double part[GROUP_TASKS_MAX];

	l->groups = 0;
	if (w->below)
		first_parts(w, part);
	for (size_t a = 0; w->below && a < n; a++) {
		double *share = &l->group_share[l->groups * l->nclient];
		size_t members = 0;

		if (w->is_unbounded[a])
			continue;
		for (size_t c = 0; c < l->nclient; c++) {
			share[c] = l->client[c] < n ? from(w, a, l->client[c]) : 0;
			if (share[c] > 0 && l->client[c] != a)
				share[c] *= part[l->client[c]];
			members += share[c] > 0;
		}
		l->group_size[l->groups] = w->threads[a];
		l->groups += members > 1;
	}
}

/* Adds what task `from` asks in so many of its cycles to the row of a client. */
static void add(struct solver *w, size_t client, size_t from, double cycles)
{
	struct asked *to = &w->flat;
	const struct asked *of = &w->asked;

	for (size_t k = 0; k < w->n; k++) {
		size_t at = asked_at(w, client, k), i = asked_at(w, from, k);
		double v = cycles * of->visits[i], all = to->visits[at] + v;

		if (!(v > 0))
			continue;
		to->service[at] += (of->service[i] - to->service[at]) * v / all;
		to->after[at] += (of->after[i] - to->after[at]) * v / all;
		to->cv2[at] += (of->cv2[i] - to->cv2[at]) * v / all;
		to->visits[at] = all;
	}
}

static void pass_row(struct solver *w, size_t client)
{
	size_t ntask = w->m->ntask;

	add(w, client, client, 1);
	for (size_t layer = 0; layer < w->nlayer && client < ntask; layer++)
		for (size_t t = 0; t < ntask; t++) {
			double v = w->flat.visits[asked_at(w, client, t)];

			if (w->m->task[t].layer != layer || !w->is_pass[t] || !(v > 0))
				continue;
			w->through[client * ntask + t] = v;
			add(w, client, t, v);
		}
}

void pass_compute(struct solver *w)
{
	size_t size = 2 * w->m->ntask * w->n;

	if (!w->through)
		return;
	w->work += (double)size * 5;
	asking_clear(&w->flat, size);
	memset(w->through, 0, w->m->ntask * w->m->ntask * sizeof(double));
	for (size_t c = 0; c < 2 * w->m->ntask; c++)
		if (c >= w->m->ntask || !w->is_pass[c])
			pass_row(w, c);
}

/* The mean wait of requests that pass through task t, over their callers. */
static double passed_wait(const struct solver *w, size_t t, size_t station)
{
	double all = 0, sum = 0;

	for (size_t c = 0; c < w->m->ntask; c++) {
		double x = w->out->task_throughput[c] * w->through[c * w->m->ntask + t];

		all += x;
		sum += x * w->flat.wait[asked_at(w, c, station)];
	}
	return all > 0 ? sum / all : 0;
}

void pass_waits(struct solver *w)
{
	if (!w->through)
		return;
	for (size_t c = 0; c < 2 * w->m->ntask; c++)
		for (size_t k = 0; k < w->n; k++) {
			size_t at = asked_at(w, c, k);

			if (!(w->asked.visits[at] > 0))
				continue;
			w->asked.wait[at] = c < w->m->ntask && w->is_pass[c] ? passed_wait(w, c, k)
									     : w->flat.wait[at];
		}
}
