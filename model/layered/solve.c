/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Method of Layers. A server, task or processor, is a station of one layer; its clients are the
 * tasks that call it. For each layer a closed network is solved, with a class for each client. The
 * waiting times that result make the service times of the layers above, and throughputs follow from
 * the reference tasks. That is repeated.
 */
#include "model/layered/layered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 5000
#define CLOSE 1e-8 /* relative change of throughputs in a round */
#define DAMPING 0.5 /* share of a new waiting time: two layers may swing otherwise */
#define LATER ((size_t)-1)

/* A layer: its stations, its clients, and the network of both. */
struct layer {
	size_t nstation, nclient;
	size_t *station, *client; /* owned */
	struct station *kind; /* owned */
	unsigned *population; /* owned */
	double *think, *visits, *service; /* owned */
	struct network_result result;
};

struct solver {
	const struct layered *m;
	struct layered_result *out;
	size_t n; /* stations: tasks, then processors */
	size_t nlayer;
	struct layer *layer; /* owned; 0 is unused */
	double *visits, *service; /* owned; of a cycle: [task * n + station] */
	double *wait; /* owned; of a visit, [task * n + station]; at PS: by service time */
	double *cycle; /* owned; of each task: how long an invocation holds a thread */
	unsigned *threads; /* owned */
	double work; /* steps between layers */
};

static void layer_done(struct layer *l)
{
	free(l->station);
	free(l->client);
	free(l->kind);
	free(l->population);
	free(l->think);
	free(l->visits);
	free(l->service);
	network_result_done(&l->result);
}

static void solver_done(struct solver *w)
{
	for (size_t i = 0; w->layer && i < w->nlayer; i++)
		layer_done(&w->layer[i]);
	free(w->layer);
	free(w->visits);
	free(w->service);
	free(w->wait);
	free(w->cycle);
	free(w->threads);
}

static bool is_shared(const struct solver *w, size_t station)
{
	return station >= w->m->ntask &&
	       w->m->processor[station - w->m->ntask].kind == STATION_SHARED;
}

/* --- how much each task is in use, from the throughputs of the reference tasks */

static void flow(struct solver *w)
{
	const struct layered *m = w->m;

	memset(w->out->entry_throughput, 0, m->nentry * sizeof(double));
	for (size_t i = 0; i < m->nentry; i++) {
		const struct layered_task *t = &m->task[m->entry[i].task];
		size_t entries = 0;

		for (size_t j = 0; t->is_reference && j < m->nentry; j++)
			entries += m->entry[j].task == m->entry[i].task;
		if (entries)
			w->out->entry_throughput[i] =
				w->out->task_throughput[m->entry[i].task] / (double)entries;
	}
	for (size_t layer = 0; layer < w->nlayer; layer++)
		for (size_t i = 0; i < m->ncall; i++) {
			const struct layered_call *c = &m->call[i];

			if (m->task[m->entry[c->from].task].layer == layer)
				w->out->entry_throughput[c->to] +=
					w->out->entry_throughput[c->from] * c->count[0];
		}
	for (size_t i = 0; i < m->ntask; i++)
		if (!m->task[i].is_reference)
			w->out->task_throughput[i] = 0;
	for (size_t i = 0; i < m->nentry; i++)
		if (!m->task[m->entry[i].task].is_reference)
			w->out->task_throughput[m->entry[i].task] += w->out->entry_throughput[i];
}

static double share(const struct solver *w, size_t entry)
{
	double all = w->out->task_throughput[w->m->entry[entry].task];

	return all > 0 ? w->out->entry_throughput[entry] / all : 0;
}

static double own_time(const struct solver *w, size_t entry)
{
	const struct layered_entry *v = &w->m->entry[entry];

	return v->phase[0].demand / w->m->processor[w->m->task[v->task].processor].speed;
}

/* --- how long an invocation takes, from waiting times */

static double at_station(const struct solver *w, size_t task, size_t station, double visits,
			 double time)
{
	double wait = w->wait[task * w->n + station];

	return is_shared(w, station) ? time * (1 + wait) : time + visits * wait;
}

/* Deeper layers first: services of callers contain those of the called. */
static void hold(struct solver *w)
{
	const struct layered *m = w->m;

	for (size_t layer = w->nlayer; layer-- > 0;) {
		for (size_t i = 0; i < m->nentry; i++) {
			size_t t = m->entry[i].task, p = m->ntask + m->task[t].processor;
			double time = own_time(w, i);

			if (m->task[t].layer == layer)
				w->out->entry_service[i] =
					m->entry[i].phase[0].think +
					(time > 0 ? at_station(w, t, p, 1, time) : 0);
		}
		for (size_t i = 0; i < m->ncall; i++) {
			const struct layered_call *c = &m->call[i];
			size_t t = m->entry[c->from].task, to = m->entry[c->to].task;

			if (m->task[t].layer == layer)
				w->out->entry_service[c->from] +=
					at_station(w, t, to, c->count[0],
						   c->count[0] * w->out->entry_service[c->to]);
		}
	}
	memset(w->cycle, 0, m->ntask * sizeof(double));
	for (size_t i = 0; i < m->nentry; i++)
		w->cycle[m->entry[i].task] += share(w, i) * w->out->entry_service[i];
}

/* --- what each task asks of each station in a cycle */

static void demand(struct solver *w)
{
	const struct layered *m = w->m;

	memset(w->visits, 0, m->ntask * w->n * sizeof(double));
	memset(w->service, 0, m->ntask * w->n * sizeof(double));
	for (size_t i = 0; i < m->nentry; i++) {
		size_t t = m->entry[i].task, at = t * w->n + m->ntask + m->task[t].processor;

		if (!(own_time(w, i) > 0))
			continue;
		w->visits[at] += share(w, i);
		w->service[at] += share(w, i) * own_time(w, i);
	}
	for (size_t i = 0; i < m->ncall; i++) {
		const struct layered_call *c = &m->call[i];
		size_t at = m->entry[c->from].task * w->n + m->entry[c->to].task;
		double count = share(w, c->from) * c->count[0];

		w->visits[at] += count;
		w->service[at] += count * w->out->entry_service[c->to];
	}
	for (size_t at = 0; at < m->ntask * w->n; at++)
		if (w->visits[at] > 0)
			w->service[at] /= w->visits[at];
}

/* Computes services and demands again, from new waiting times. */
static void renew(struct solver *w)
{
	const struct layered *m = w->m;

	w->work += (double)w->nlayer * (double)(m->nentry + m->ncall) +
		   (double)m->ntask * (double)w->n;
	hold(w);
	demand(w);
}

/* --- one layer */

static void set_class(struct solver *w, struct layer *l, size_t c)
{
	size_t t = l->client[c];
	double x = w->out->task_throughput[t], here = 0, all;

	for (size_t k = 0; k < l->nstation; k++) {
		size_t from = t * w->n + l->station[k], at = c * l->nstation + k;

		l->visits[at] = w->visits[from];
		l->service[at] = w->service[from];
		here += at_station(w, t, l->station[k], w->visits[from],
				   w->visits[from] * w->service[from]);
	}
	all = w->m->task[t].is_reference ? w->m->task[t].think + w->cycle[t]
	      : x > 0			 ? fmax(w->threads[t] / x, w->cycle[t])
					 : 1e12;
	l->population[c] = w->threads[t];
	l->think[c] = fmax(all - here, 0);
}

/* Returns the greatest change of a waiting time, by the cycle of its client. */
static void take_waits(struct solver *w, struct layer *l)
{
	for (size_t c = 0; c < l->nclient; c++)
		for (size_t k = 0; k < l->nstation; k++) {
			size_t at = c * l->nstation + k;
			double *wait = &w->wait[l->client[c] * w->n + l->station[k]], v;

			if (!(l->visits[at] > 0) || !(l->service[at] > 0))
				continue;
			v = l->result.residence[at] / l->visits[at] - l->service[at];
			if (is_shared(w, l->station[k]))
				v /= l->service[at];
			*wait += DAMPING * (fmax(v, 0) - *wait);
		}
}

static int solve_layer(struct solver *w, struct layer *l, struct err *e)
{
	const struct network n = { .classes = l->nclient,
				   .stations = l->nstation,
				   .population = l->population,
				   .think = l->think,
				   .visits = l->visits,
				   .service = l->service,
				   .station = l->kind };
	int rc;

	for (size_t c = 0; c < l->nclient; c++) {
		double all;

		set_class(w, l, c);
		all = l->think[c];
		for (size_t k = 0; k < l->nstation; k++)
			all += l->visits[c * l->nstation + k] * l->service[c * l->nstation + k];
		if (!(all > 0))
			l->population[c] = 0;
		if (!(all > 0))
			l->think[c] = 1;
	}
	rc = network_approximate(&n, &l->result, e);
	if (!rc)
		take_waits(w, l);
	return rc;
}

/* --- the layers of a model */

static size_t layer_of(const struct solver *w, size_t station)
{
	const struct layered *m = w->m;
	size_t deep = 0;

	if (station < m->ntask)
		return m->task[station].is_reference ? LATER : m->task[station].layer;
	for (size_t i = 0; i < m->ntask; i++)
		if (m->task[i].processor == station - m->ntask && m->task[i].layer + 1 > deep)
			deep = m->task[i].layer + 1;
	return deep ? deep : LATER;
}

static struct station kind_of(const struct solver *w, size_t station)
{
	const struct layered_task *t = &w->m->task[station];
	const struct layered_processor *p = &w->m->processor[station - w->m->ntask];

	if (station >= w->m->ntask)
		return (struct station){ p->kind, p->servers };
	return (struct station){ t->is_infinite ? STATION_DELAY : STATION_FCFS, t->threads };
}

static int make_layer(struct solver *w, size_t number, struct layer *l)
{
	size_t size;

	l->station = calloc(w->n, sizeof(size_t));
	l->client = calloc(w->m->ntask, sizeof(size_t));
	l->kind = calloc(w->n, sizeof(*l->kind));
	if (!l->station || !l->client || !l->kind)
		return -ERR_NOMEM;
	for (size_t k = 0; k < w->n; k++)
		if (layer_of(w, k) == number) {
			l->kind[l->nstation] = kind_of(w, k);
			l->station[l->nstation++] = k;
		}
	for (size_t t = 0; t < w->m->ntask; t++) {
		bool is_client = false;

		for (size_t k = 0; k < l->nstation; k++)
			is_client = is_client || w->visits[t * w->n + l->station[k]] > 0;
		if (is_client)
			l->client[l->nclient++] = t;
	}
	size = l->nclient * l->nstation + 1;
	l->population = calloc(l->nclient + 1, sizeof(unsigned));
	l->think = calloc(l->nclient + 1, sizeof(double));
	l->visits = calloc(size, sizeof(double));
	l->service = calloc(size, sizeof(double));
	if (!l->population || !l->think || !l->visits || !l->service)
		return -ERR_NOMEM;
	return network_result_init(
		&(struct network){ .classes = l->nclient, .stations = l->nstation }, &l->result);
}

/* Returns the threads of all tasks that call task t: no more requests are there at a time. */
static double callers(const struct solver *w, size_t t)
{
	const struct layered *m = w->m;
	double sum = 0;

	for (size_t i = 0; i < m->ntask; i++)
		if (w->visits[i * w->n + t] > 0)
			sum += w->threads[i];
	return fmin(fmax(sum, 1), NETWORK_POPULATION_MAX);
}

/* Sets how many threads of each task can be in use; from the clients downwards. */
static void set_threads(struct solver *w)
{
	const struct layered *m = w->m;

	for (size_t layer = 0; layer < w->nlayer; layer++)
		for (size_t i = 0; i < m->ntask; i++) {
			unsigned most;

			if (m->task[i].layer != layer)
				continue;
			most = m->task[i].is_reference ? m->task[i].threads
						       : (unsigned)callers(w, i);
			w->threads[i] = m->task[i].is_infinite || m->task[i].threads > most
						? most
						: m->task[i].threads;
		}
}

static int result_init(const struct layered *m, struct layered_result *out)
{
	*out = (struct layered_result){
		.task_throughput = calloc(m->ntask + 1, sizeof(double)),
		.task_busy = calloc(m->ntask + 1, sizeof(double)),
		.task_response = calloc(m->ntask + 1, sizeof(double)),
		.entry_service = calloc(m->nentry + 1, sizeof(double)),
		.entry_throughput = calloc(m->nentry + 1, sizeof(double)),
		.processor_busy = calloc(m->nprocessor + 1, sizeof(double)),
	};
	return out->task_throughput && out->task_busy && out->task_response && out->entry_service &&
			       out->entry_throughput && out->processor_busy
		       ? 0
		       : -ERR_NOMEM;
}

static int solver_init(struct solver *w)
{
	const struct layered *m = w->m;

	w->n = m->ntask + m->nprocessor;
	for (size_t i = 0; i < m->ntask; i++)
		w->nlayer = m->task[i].layer + 2 > w->nlayer ? m->task[i].layer + 2 : w->nlayer;
	w->layer = calloc(w->nlayer, sizeof(*w->layer));
	w->visits = calloc(m->ntask * w->n + 1, sizeof(double));
	w->service = calloc(m->ntask * w->n + 1, sizeof(double));
	w->wait = calloc(m->ntask * w->n + 1, sizeof(double));
	w->cycle = calloc(m->ntask + 1, sizeof(double));
	w->threads = calloc(m->ntask + 1, sizeof(unsigned));
	return w->layer && w->visits && w->service && w->wait && w->cycle && w->threads
		       ? result_init(m, w->out)
		       : -ERR_NOMEM;
}

/* Throughputs of the reference tasks from their cycles. Returns the greatest relative change. */
static double advance(struct solver *w)
{
	double most = 0;

	for (size_t i = 0; i < w->m->ntask; i++) {
		double was = w->out->task_throughput[i], all = w->m->task[i].think + w->cycle[i];
		double now = all > 0 ? w->threads[i] / all : 0;

		if (!w->m->task[i].is_reference)
			continue;
		w->out->task_throughput[i] = now;
		w->out->task_response[i] = w->cycle[i];
		most = fmax(most, now > 0 ? fabs(now - was) / now : 0);
	}
	flow(w);
	renew(w);
	return most;
}

static int check_work(const struct solver *w, struct err *e)
{
	double work = w->work;

	for (size_t i = 1; i < w->nlayer; i++)
		work += w->layer[i].result.work;
	if (work <= LAYERED_WORK_MAX)
		return 0;
	return err_set(e, ERR_LIMIT,
		       "%zu layers of %zu tasks need more than %g steps: too large, or without "
		       "convergence",
		       w->nlayer - 1, w->m->ntask, LAYERED_WORK_MAX);
}

static int iterate(struct solver *w, struct err *e)
{
	for (w->out->steps = 1; w->out->steps < ROUNDS_MAX; w->out->steps++) {
		for (size_t i = w->nlayer; i-- > 1;) {
			int rc = check_work(w, e);

			if (!rc)
				rc = solve_layer(w, &w->layer[i], e);
			if (rc)
				return rc;
			renew(w);
		}
		if (advance(w) < CLOSE)
			return 0;
	}
	return err_set(e, ERR_LIMIT, "the layers do not converge");
}

/* Begins without any waiting: the shortest cycles. */
static int begin(struct solver *w, struct err *e)
{
	for (size_t i = 0; i < w->m->ntask; i++)
		w->out->task_throughput[i] = w->m->task[i].is_reference;
	flow(w);
	renew(w);
	set_threads(w);
	advance(w);
	for (size_t i = 0; i < w->m->ntask; i++) {
		const struct layered_task *t = &w->m->task[i];

		if (t->is_reference && !(t->think + w->cycle[i] > 0))
			return err_set(e, ERR_INVALID, "a cycle of '%s' takes no time", t->name);
	}
	return 0;
}

static void finish(struct solver *w)
{
	const struct layered *m = w->m;

	for (size_t i = 0; i < m->nentry; i++) {
		size_t t = m->entry[i].task;
		double x = w->out->entry_throughput[i];

		w->out->task_busy[t] += x * w->out->entry_service[i];
		w->out->processor_busy[m->task[t].processor] += x * own_time(w, i);
	}
}

/* Refuses what only simulation can do. */
static int check_parts(const struct layered *m, struct err *e)
{
	for (size_t i = 0; i < m->ncall; i++)
		if (m->call[i].kind != LAYERED_WAIT || m->call[i].count[1] > 0)
			return err_set(e, ERR_UNSUPPORTED,
				       "'%s' has %s: they are simulated, but not solved",
				       m->entry[m->call[i].from].name,
				       m->call[i].kind == LAYERED_SEND ? "calls without a reply (z)"
				       : m->call[i].kind == LAYERED_FORWARD
					       ? "forwarded calls (F)"
					       : "calls in its second phase");
	for (size_t i = 0; i < m->nentry; i++) {
		const struct layered_entry *v = &m->entry[i];

		if (v->phase[1].demand > 0 || v->phase[1].think > 0 || v->arrivals > 0)
			return err_set(e, ERR_UNSUPPORTED, "'%s' has %s: simulated, but not solved",
				       v->name,
				       v->arrivals > 0 ? "open arrivals (a)" : "a second phase");
	}
	return 0;
}

int layered_solve(const struct layered *m, struct layered_result *out, struct err *e)
{
	struct solver w = { .m = m, .out = out };
	int rc;

	*out = (struct layered_result){ 0 };
	rc = check_parts(m, e);
	if (rc)
		return rc;
	rc = solver_init(&w) ? err_nomem(e) : begin(&w, e);
	for (size_t i = 1; !rc && i < w.nlayer; i++)
		if (make_layer(&w, i, &w.layer[i]))
			rc = err_nomem(e);
	if (!rc)
		rc = iterate(&w, e);
	if (!rc)
		finish(&w);
	solver_done(&w);
	return rc;
}
