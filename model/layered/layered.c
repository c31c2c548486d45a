/* SPDX-License-Identifier: Apache-2.0 */
#include "model/layered/layered.h"

#include <math.h>
#include <stdlib.h>

#define UNSET ((size_t)-1)

void layered_done(struct layered *m)
{
	free(m->processor);
	free(m->task);
	free(m->entry);
	free(m->call);
	*m = (struct layered){ 0 };
}

void layered_result_done(struct layered_result *r)
{
	free(r->task_throughput);
	free(r->task_busy);
	free(r->task_response);
	free(r->entry_service);
	free(r->entry_throughput);
	free(r->processor_busy);
	*r = (struct layered_result){ 0 };
}

/* Puts each called task below its callers, as often as there are tasks: then a circle is left. */
static int set_layers(struct layered *m, struct err *e)
{
	for (size_t i = 0; i < m->ntask; i++)
		m->task[i].layer = m->task[i].is_reference ? 0 : 1;
	for (size_t round = 0; round <= m->ntask; round++) {
		const struct layered_task *deep = NULL;

		for (size_t i = 0; i < m->ncall; i++) {
			const struct layered_task *from = &m->task[m->entry[m->call[i].from].task];
			struct layered_task *to = &m->task[m->entry[m->call[i].to].task];

			if (to->layer > from->layer)
				continue;
			to->layer = from->layer + 1;
			deep = to;
		}
		if (!deep)
			return 0;
		if (round == m->ntask)
			return err_set(e, ERR_INVALID,
				       "task '%s' waits for itself: its calls come back to it",
				       deep->name);
	}
	return 0;
}

int layered_check(struct layered *m, struct err *e)
{
	bool has_reference = false;

	for (size_t i = 0; i < m->ntask; i++)
		has_reference = has_reference || m->task[i].is_reference;
	if (!has_reference)
		return err_set(e, ERR_INVALID, "no reference task (r): nothing starts any work");
	for (size_t i = 0; i < m->ncall; i++) {
		const struct layered_entry *to = &m->entry[m->call[i].to];

		if (m->task[to->task].is_reference)
			return err_set(e, ERR_INVALID, "'%s' is an entry of a reference task",
				       to->name);
	}
	return set_layers(m, e);
}

/* Invocations of each entry in a cycle of a reference task. Calls lead to deeper layers only. */
static void count_visits(const struct layered *m, size_t task, double *visits)
{
	size_t entries = 0, last = 0;

	for (size_t i = 0; i < m->nentry; i++)
		entries += m->entry[i].task == task;
	for (size_t i = 0; i < m->nentry; i++)
		visits[i] = m->entry[i].task == task ? 1.0 / (double)entries : 0;
	for (size_t i = 0; i < m->ntask; i++)
		last = m->task[i].layer > last ? m->task[i].layer : last;
	for (size_t layer = 0; layer <= last; layer++)
		for (size_t i = 0; i < m->ncall; i++) {
			const struct layered_call *c = &m->call[i];

			if (m->task[m->entry[c->from].task].layer == layer)
				visits[c->to] += visits[c->from] * c->count;
		}
}

double layered_bound(const struct layered *m, size_t task)
{
	double *visits = calloc(m->nentry + 1, sizeof(*visits)), *own, all = m->task[task].think;
	double most = 0;

	own = calloc(m->nprocessor + 1, sizeof(*own));
	if (!visits || !own) {
		free(visits);
		free(own);
		return NAN;
	}
	count_visits(m, task, visits);
	for (size_t i = 0; i < m->nentry; i++) {
		size_t p = m->task[m->entry[i].task].processor;
		double d = visits[i] * m->entry[i].demand / m->processor[p].speed;

		all += d + visits[i] * m->entry[i].think;
		if (m->processor[p].kind != STATION_DELAY)
			own[p] += d / m->processor[p].servers;
	}
	for (size_t p = 0; p < m->nprocessor; p++)
		most = fmax(most, own[p]);
	free(visits);
	free(own);
	return fmin(m->task[task].threads / all, most > 0 ? 1 / most : INFINITY);
}
