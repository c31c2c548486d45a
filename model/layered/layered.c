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
	free(r->entry_response);
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

static int check_call(const struct layered *m, const struct layered_call *c, struct err *e)
{
	const struct layered_entry *from = &m->entry[c->from], *to = &m->entry[c->to];

	if (m->task[to->task].is_reference)
		return err_set(e, ERR_INVALID, "'%s' is an entry of a reference task", to->name);
	if (c->kind == LAYERED_FORWARD && m->task[from->task].is_reference)
		return err_set(e, ERR_INVALID, "'%s' has no caller: it cannot forward", from->name);
	for (size_t p = 0; p < LAYERED_PHASES && c->kind != LAYERED_FORWARD; p++)
		if (from->phase[p].is_fixed && c->count[p] != floor(c->count[p]))
			return err_set(e, ERR_INVALID,
				       "'%s' has a fixed number of calls (f): a whole one, not %g",
				       from->name, c->count[p]);
	return 0;
}

/* An invocation is forwarded to one entry, or replies. */
static int check_forwards(const struct layered *m, struct err *e)
{
	double *all = calloc(m->nentry + 1, sizeof(*all));
	int rc = all ? 0 : err_nomem(e);

	for (size_t i = 0; !rc && i < m->ncall; i++) {
		const struct layered_call *c = &m->call[i];

		if (c->kind != LAYERED_FORWARD)
			continue;
		all[c->from] += c->count[0];
		if (all[c->from] > 1 + 1e-9)
			rc = err_set(e, ERR_INVALID, "'%s' forwards with a probability above 1: %g",
				     m->entry[c->from].name, all[c->from]);
	}
	free(all);
	return rc;
}

static int check_entry(const struct layered *m, const struct layered_entry *v, struct err *e)
{
	if (v->arrivals > 0 && m->task[v->task].is_reference)
		return err_set(e, ERR_INVALID,
			       "'%s' is an entry of a reference task: nothing arrives", v->name);
	if (v->phase[0].cv2 > LAYERED_CV2_MAX || v->phase[1].cv2 > LAYERED_CV2_MAX)
		return err_set(e, ERR_INVALID,
			       "'%s': a squared coefficient of variation is from 0 to %g", v->name,
			       LAYERED_CV2_MAX);
	return 0;
}

int layered_check(struct layered *m, struct err *e)
{
	bool has_work = false;
	int rc;

	for (size_t i = 0; i < m->ntask; i++)
		has_work = has_work || m->task[i].is_reference;
	for (size_t i = 0; i < m->nentry; i++) {
		has_work = has_work || m->entry[i].arrivals > 0;
		rc = check_entry(m, &m->entry[i], e);
		if (rc)
			return rc;
	}
	if (!has_work)
		return err_set(
			e, ERR_INVALID,
			"no reference task (r) and no arrivals (a): nothing starts any work");
	for (size_t i = 0; i < m->ncall; i++) {
		rc = check_call(m, &m->call[i], e);
		if (rc)
			return rc;
	}
	rc = check_forwards(m, e);
	return rc ? rc : set_layers(m, e);
}

/* The calls of an invocation; is_waited: only those for which a caller of it waits, too. */
static double calls_of(const struct layered *m, const struct layered_call *c, bool is_waited)
{
	bool is_client = m->task[m->entry[c->from].task].is_reference;

	if (c->kind == LAYERED_FORWARD)
		return c->count[0];
	if (!is_waited)
		return c->count[0] + c->count[1];
	return c->kind == LAYERED_SEND ? 0 : c->count[0] + (is_client ? c->count[1] : 0);
}

/* Invocations of each entry in a cycle of a reference task. Calls lead to deeper layers only. */
static void count_visits(const struct layered *m, size_t task, bool is_waited, double *visits)
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
				visits[c->to] += visits[c->from] * calls_of(m, c, is_waited);
		}
}

/* The time of a cycle without waiting, beside the think time. */
static double shortest(const struct layered *m, size_t task, double *visits)
{
	double all = 0;

	count_visits(m, task, true, visits);
	for (size_t i = 0; i < m->nentry; i++) {
		const struct layered_entry *v = &m->entry[i];
		double speed = m->processor[m->task[v->task].processor].speed;
		size_t phases = v->task == task ? LAYERED_PHASES : 1;

		for (size_t p = 0; p < phases; p++)
			all += visits[i] * (v->phase[p].demand / speed + v->phase[p].think);
	}
	return all;
}

double layered_bound(const struct layered *m, size_t task)
{
	double *visits = calloc(m->nentry + 1, sizeof(*visits)), *own, all;
	double most = 0;

	own = calloc(m->nprocessor + 1, sizeof(*own));
	if (!visits || !own) {
		free(visits);
		free(own);
		return NAN;
	}
	all = m->task[task].think + shortest(m, task, visits);
	count_visits(m, task, false, visits);
	for (size_t i = 0; i < m->nentry; i++) {
		const struct layered_processor *p =
			&m->processor[m->task[m->entry[i].task].processor];
		double d = m->entry[i].phase[0].demand + m->entry[i].phase[1].demand;

		if (p->kind != STATION_DELAY)
			own[p - m->processor] += visits[i] * d / p->speed / p->servers;
	}
	for (size_t p = 0; p < m->nprocessor; p++)
		most = fmax(most, own[p]);
	free(visits);
	free(own);
	return fmin(m->task[task].threads / all, most > 0 ? 1 / most : INFINITY);
}
