/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Method of Layers. A server, task or processor, is a station of one layer; its clients are the
 * tasks that call it, and open requests. For each layer a network is solved, with a class for each
 * client. The waiting times that result make the service times of the layers above, and
 * throughputs follow from the reference tasks. That is repeated.
 */
#include "model/layered/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most models need fewer than 100 rounds; those that swing need smaller steps, not more of them. */
#define ROUNDS_MAX 1000
/* after so many the steps become smaller, unless changes have become so much smaller: it is slow */
#define ROUNDS_CALM 100
#define SHRUNK 0.5
#define CALMER 0.7
#define CLOSE 1e-8 /* relative change of throughputs and holding times in a round */
#define DAMPING 0.5
#define LATER ((size_t)-1)
#define LEVELS_MAX 32 /* numbers of threads at which a profile is known */
#define WAIT_LEAST \
	(-0.9) /* by the service time: a mean service time is too long for idle servers */
#define OPEN_MOST 0.995 /* use of a station by open requests, while it is not steady */

static void layer_done(struct layer *l)
{
	free(l->station);
	free(l->client);
	free(l->kind);
	free(l->population);
	free(l->think);
	free(l->visits);
	free(l->service);
	free(l->after);
	free(l->cv2);
	free(l->rate);
	free(l->group_size);
	free(l->group_share);
	network_result_done(&l->result);
}

static void solver_done(struct solver *w)
{
	for (size_t i = 0; w->layer && i < w->nlayer; i++)
		layer_done(&w->layer[i]);
	for (size_t i = 0; w->slower && i < w->m->ntask; i++)
		free(w->slower[i]);
	free(w->layer);
	free(w->call);
	free(w->first);
	free(w->order);
	free(w->arrivals);
	if (w->through)
		asking_done(&w->flat);
	asking_done(&w->asked);
	free(w->through);
	free(w->is_pass);
	free(w->below);
	free(w->calls);
	free(w->hold);
	free(w->spread);
	free(w->cycle);
	free(w->rate);
	free(w->is_unbounded);
	free(w->threads);
	free(w->slower);
	free(w->levels);
}

/* --- one layer */

static size_t task_of_client(const struct solver *w, size_t client)
{
	return client % w->m->ntask;
}

/* The arrivals of an open class; 0: it is closed. */
static double rate_of(const struct solver *w, size_t client)
{
	if (client >= w->m->ntask)
		return w->rate[client - w->m->ntask];
	return w->is_unbounded[client] ? w->out->task_throughput[client] : 0;
}

static void set_class(struct solver *w, struct layer *l, size_t c)
{
	size_t client = l->client[c], t = task_of_client(w, client);
	double x = w->out->task_throughput[t], here = 0, all;

	for (size_t k = 0; k < l->nstation; k++) {
		size_t from = asked_at(w, client, l->station[k]), at = c * l->nstation + k;

		l->visits[at] = w->flat.visits[from];
		l->service[at] = w->flat.service[from];
		l->after[at] = w->flat.after[from];
		l->cv2[at] = w->flat.cv2[from];
		if (client < w->m->ntask)
			here += flow_at_station(w, t, l->station[k]);
	}
	l->rate[c] = rate_of(w, client);
	l->think[c] = 0;
	l->population[c] = 0;
	if (client >= w->m->ntask || l->rate[c] > 0)
		return;
	all = w->m->task[t].is_reference ? w->m->task[t].think + w->cycle[t]
	      : x > 0			 ? fmax(w->threads[t] / x, w->cycle[t])
					 : 1e12;
	l->population[c] = w->threads[t];
	l->think[c] = fmax(all - here, 0);
	for (size_t k = 0; k < l->nstation; k++)
		here += l->visits[c * l->nstation + k] * l->service[c * l->nstation + k];
	if (here + l->think[c] > 0)
		return;
	l->population[c] = 0;
	l->think[c] = 1;
}

/* Cuts open requests that are too many for a station, until calls of clients have adapted. */
static void limit_open(struct solver *w, struct layer *l)
{
	for (size_t k = 0; k < l->nstation; k++) {
		double use = 0;

		if (l->kind[k].kind == STATION_DELAY)
			continue;
		for (size_t c = 0; c < l->nclient; c++) {
			size_t at = c * l->nstation + k;

			use += l->rate[c] * l->visits[at] * (l->service[at] + l->after[at]);
		}
		use /= l->kind[k].servers;
		if (!(use > OPEN_MOST))
			continue;
		w->full = l->station[k];
		for (size_t c = 0; c < l->nclient; c++)
			if (l->visits[c * l->nstation + k] > 0)
				l->rate[c] *= OPEN_MOST / use;
	}
}

static void take_waits(struct solver *w, struct layer *l)
{
	for (size_t c = 0; c < l->nclient; c++)
		for (size_t k = 0; k < l->nstation; k++) {
			size_t at = c * l->nstation + k;
			double *wait = &w->flat.wait[asked_at(w, l->client[c], l->station[k])], v;
			double least = l->kind[k].slower ? WAIT_LEAST * l->service[at] : 0;

			if (!(l->visits[at] > 0) || !(l->service[at] + l->after[at] > 0))
				continue;
			v = fmax(l->result.residence[at] / l->visits[at] - l->service[at], least);
			if (solver_is_shared(w, l->station[k]))
				v /= l->service[at];
			*wait += w->damping * (v - *wait);
		}
}

static void set_network(struct solver *w, struct layer *l)
{
	for (size_t k = 0; k < l->nstation; k++)
		l->kind[k] = solver_station(w, l->station[k]);
	for (size_t c = 0; c < l->nclient; c++)
		set_class(w, l, c);
	limit_open(w, l);
	pass_groups(w, l);
}

static int solve_layer(struct solver *w, struct layer *l, struct err *e)
{
	const struct network n = { .classes = l->nclient,
				   .stations = l->nstation,
				   .population = l->population,
				   .think = l->think,
				   .visits = l->visits,
				   .service = l->service,
				   .after = l->after,
				   .cv2 = l->cv2,
				   .rate = l->rate,
				   .groups = l->groups,
				   .group_size = l->group_size,
				   .group_share = l->group_share,
				   .station = l->kind };
	int rc = network_approximate(&n, &l->result, e);

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

static int layer_alloc(struct layer *l, size_t ntask)
{
	size_t size = l->nclient * l->nstation + 1;

	l->population = calloc(l->nclient + 1, sizeof(unsigned));
	l->think = calloc(l->nclient + 1, sizeof(double));
	l->rate = calloc(l->nclient + 1, sizeof(double));
	l->visits = calloc(size, sizeof(double));
	l->service = calloc(size, sizeof(double));
	l->after = calloc(size, sizeof(double));
	l->cv2 = calloc(size, sizeof(double));
	l->group_size = calloc(ntask + 1, sizeof(double));
	l->group_share = calloc(ntask * l->nclient + 1, sizeof(double));
	if (!l->group_size || !l->group_share || !l->population || !l->think || !l->rate ||
	    !l->visits || !l->service || !l->after || !l->cv2)
		return -ERR_NOMEM;
	return network_result_init(
		&(struct network){ .classes = l->nclient, .stations = l->nstation }, &l->result);
}

static int make_layer(struct solver *w, size_t number, struct layer *l)
{
	l->station = calloc(w->n, sizeof(size_t));
	l->client = calloc(2 * w->m->ntask, sizeof(size_t));
	l->kind = calloc(w->n, sizeof(*l->kind));
	if (!l->station || !l->client || !l->kind)
		return -ERR_NOMEM;
	for (size_t k = 0; k < w->n; k++)
		if (layer_of(w, k) == number && !(k < w->m->ntask && w->is_pass[k]))
			l->station[l->nstation++] = k;
	for (size_t t = 0; t < 2 * w->m->ntask; t++) {
		bool is_client = false, is_pass = t < w->m->ntask && w->is_pass[t];

		for (size_t k = 0; k < l->nstation && !is_pass; k++)
			is_client = is_client || w->flat.visits[asked_at(w, t, l->station[k])] > 0;
		if (is_client)
			l->client[l->nclient++] = t;
	}
	return layer_alloc(l, w->m->ntask);
}

static bool has_second_phase(const struct solver *w, size_t t)
{
	for (size_t i = 0; i < w->m->nentry; i++) {
		const struct layered_phase *p = &w->m->entry[i].phase[1];

		if (w->m->entry[i].task == t &&
		    (p->demand + p->think + w->calls[i * LAYERED_PHASES + 1] > 0))
			return true;
	}
	return false;
}

/* All clients: each of them has one request, unless second phases go on without it. */
static double clients_of(const struct solver *w)
{
	double sum = 0;

	for (size_t i = 0; i < w->m->ntask; i++) {
		if (w->rate[i] > 0 || (has_second_phase(w, i) && !w->m->task[i].is_reference))
			return INFINITY;
		sum += w->m->task[i].is_reference ? w->m->task[i].threads : 0;
	}
	return sum;
}

/* The threads of all tasks that call task t: no more requests are there at a time. 0: any number.
 */
static double callers(const struct solver *w, size_t t)
{
	const struct layered *m = w->m;
	double sum = 0;

	if (w->rate[t] > 0)
		return 0;
	for (size_t i = 0; i < m->ntask; i++) {
		if (!(w->asked.visits[asked_at(w, i, t)] > 0))
			continue;
		if (w->is_unbounded[i])
			return 0;
		sum += w->threads[i];
	}
	return fmin(fmax(fmin(sum, clients_of(w)), 1), NETWORK_POPULATION_MAX);
}

static int set_profile(struct solver *w, size_t t)
{
	w->levels[t] = w->threads[t] < LEVELS_MAX ? w->threads[t] : LEVELS_MAX;
	w->slower[t] = calloc(w->levels[t], sizeof(double));
	if (!w->slower[t])
		return -ERR_NOMEM;
	for (unsigned i = 0; i < w->levels[t]; i++)
		w->slower[t][i] = 1;
	return 0;
}

/* Sets how many threads of a task can be in use, and if they are enough for all callers. */
static int set_threads(struct solver *w, size_t t)
{
	const struct layered_task *v = &w->m->task[t];
	bool is_second = has_second_phase(w, t);
	double most = v->is_reference ? v->threads : callers(w, t);

	w->is_unbounded[t] = v->is_infinite && (!(most > 0) || is_second);
	w->is_pass[t] = !v->is_reference && most > 0 && !is_second &&
			(v->is_infinite || v->threads >= most);
	if (!(most > 0) || is_second)
		most = v->is_infinite ? 1 : v->threads;
	w->threads[t] = v->is_infinite || v->threads > most ? (unsigned)most : v->threads;
	return v->is_reference || v->is_infinite || w->is_pass[t] || w->threads[t] < 2
		       ? 0
		       : set_profile(w, t);
}

/* From the clients downwards. */
static int make_layers(struct solver *w)
{
	int rc = 0;

	for (size_t layer = 0; layer < w->nlayer; layer++)
		for (size_t i = 0; !rc && i < w->m->ntask; i++)
			if (w->m->task[i].layer == layer)
				rc = set_threads(w, i);
	if (!rc)
		rc = pass_init(w);
	if (!rc)
		flow_renew(w);
	for (size_t i = 1; !rc && i < w->nlayer; i++)
		rc = make_layer(w, i, &w->layer[i]);
	return rc;
}

static int result_init(const struct layered *m, struct layered_result *out)
{
	*out = (struct layered_result){
		.task_throughput = calloc(m->ntask + 1, sizeof(double)),
		.task_busy = calloc(m->ntask + 1, sizeof(double)),
		.task_response = calloc(m->ntask + 1, sizeof(double)),
		.entry_service = calloc(m->nentry + 1, sizeof(double)),
		.entry_throughput = calloc(m->nentry + 1, sizeof(double)),
		.entry_response = calloc(m->nentry + 1, sizeof(double)),
		.processor_busy = calloc(m->nprocessor + 1, sizeof(double)),
	};
	return out->task_throughput && out->task_busy && out->task_response && out->entry_service &&
			       out->entry_throughput && out->entry_response && out->processor_busy
		       ? 0
		       : -ERR_NOMEM;
}

static int solver_init(struct solver *w)
{
	const struct layered *m = w->m;

	w->n = m->ntask + m->nprocessor;
	w->full = w->n;
	w->damping = DAMPING;
	for (size_t i = 0; i < m->ntask; i++)
		w->nlayer = m->task[i].layer + 2 > w->nlayer ? m->task[i].layer + 2 : w->nlayer;
	w->layer = calloc(w->nlayer, sizeof(*w->layer));
	w->arrivals = calloc(m->nentry + 1, sizeof(double));
	w->calls = calloc(LAYERED_PHASES * m->nentry + 1, sizeof(double));
	w->hold = calloc(LAYERED_PHASES * m->nentry + 1, sizeof(double));
	w->spread = calloc(LAYERED_PHASES * m->nentry + 1, sizeof(double));
	w->cycle = calloc(m->ntask + 1, sizeof(double));
	w->rate = calloc(m->ntask + 1, sizeof(double));
	w->is_unbounded = calloc(m->ntask + 1, sizeof(bool));
	w->is_pass = calloc(m->ntask + 1, sizeof(bool));
	w->threads = calloc(m->ntask + 1, sizeof(unsigned));
	w->slower = calloc(m->ntask + 1, sizeof(*w->slower));
	w->levels = calloc(m->ntask + 1, sizeof(unsigned));
	if (!w->layer || !w->arrivals || !w->calls || !w->hold || !w->spread || !w->cycle ||
	    !w->rate || !w->is_unbounded || !w->threads || !w->slower || !w->levels ||
	    !w->is_pass || asking_init(&w->asked, 2 * m->ntask * w->n + 1))
		return -ERR_NOMEM;
	for (size_t i = 0; i < m->ncall; i++)
		for (size_t p = 0; p < LAYERED_PHASES; p++)
			if (m->call[i].kind != LAYERED_FORWARD)
				w->calls[m->call[i].from * LAYERED_PHASES + p] +=
					m->call[i].count[p];
	w->flat = w->asked;
	return result_init(m, w->out);
}

/* Throughputs of the reference tasks from their cycles. Returns the greatest relative change. */
static double advance(struct solver *w)
{
	double most = w->change;

	w->change = 0;
	for (size_t i = 0; i < w->m->ntask; i++) {
		double was = w->out->task_throughput[i], all = w->m->task[i].think + w->cycle[i];
		double now = all > 0 ? w->threads[i] / all : 0;

		if (!w->m->task[i].is_reference)
			continue;
		w->out->task_throughput[i] = now;
		w->out->task_response[i] = w->cycle[i];
		most = fmax(most, now > 0 ? fabs(now - was) / now : 0);
	}
	flow_compute(w);
	flow_renew(w);
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

/* --- open requests that are too many */

/* How much of a station is in use, as the throughputs demand it. */
static double use_of(const struct solver *w, size_t station)
{
	struct station v = solver_station(w, station);

	return v.kind == STATION_DELAY ? 0 : flow_busy(w, station) / v.servers;
}

/* Second phases alone are held up by their clients. */
static bool has_open(const struct solver *w)
{
	bool has = false;

	for (size_t t = 0; t < w->m->ntask; t++)
		has = has || w->rate[t] > 0;
	return has;
}

static int fail_full(const struct solver *w, size_t station, struct err *e)
{
	bool is_task = station < w->m->ntask;
	const char *why = use_of(w, station) >= 1 ? "no steady state" : "too close to saturation";

	return err_set(e, ERR_LIMIT, "%s: utilisation of %s%s is %.2f", why,
		       is_task ? "the threads of " : "",
		       is_task ? w->m->task[station].name
			       : w->m->processor[station - w->m->ntask].name,
		       use_of(w, station));
}

/* Arrivals alone may be too many for a processor: that is known at once. */
static int check_arrivals(struct solver *w, struct err *e)
{
	flow_compute(w);
	for (size_t k = w->m->ntask; k < w->n; k++)
		if (use_of(w, k) >= 1)
			return fail_full(w, k, e);
	return 0;
}

/* --- rounds */

static int round_once(struct solver *w, struct err *e)
{
	int rc = 0;

	w->full = w->n;
	pass_below(w);
	for (size_t i = 0; !rc && i < w->m->ntask; i++)
		if (w->slower[i])
			rc = profile_compute(w, i, e);
	for (size_t i = w->nlayer; !rc && i-- > 1;) {
		set_network(w, &w->layer[i]);
		rc = check_work(w, e);
		if (!rc)
			rc = solve_layer(w, &w->layer[i], e);
		flow_renew(w);
	}
	return rc;
}

static int iterate(struct solver *w, struct err *e)
{
	double last = INFINITY, change;

	for (w->out->steps = 1; w->out->steps < ROUNDS_MAX; w->out->steps++) {
		int rc = round_once(w, e);

		if (rc == -ERR_LIMIT && w->full < w->n && has_open(w))
			return fail_full(w, w->full, e);
		if (rc)
			return rc;
		change = advance(w);
		if (change < CLOSE * w->damping)
			return 0;
		if (w->out->steps % ROUNDS_CALM)
			continue;
		if (change > SHRUNK * last)
			w->damping *= CALMER;
		last = change;
	}
	if (w->full < w->n && has_open(w))
		return fail_full(w, w->full, e);
	return err_set(e, ERR_LIMIT, "the layers do not converge in %d rounds", ROUNDS_MAX);
}

/* Begins without any waiting: the shortest cycles. */
static int begin(struct solver *w, struct err *e)
{
	int rc = check_arrivals(w, e);

	if (rc)
		return rc;
	for (size_t i = 0; i < w->m->ntask; i++)
		w->out->task_throughput[i] = w->m->task[i].is_reference;
	flow_compute(w);
	flow_renew(w);
	if (make_layers(w))
		return err_nomem(e);
	advance(w);
	for (size_t i = 0; i < w->m->ntask; i++) {
		const struct layered_task *t = &w->m->task[i];

		if (t->is_reference && !(t->think + w->cycle[i] > 0))
			return err_set(e, ERR_INVALID, "a cycle of '%s' takes no time", t->name);
	}
	return 0;
}

/* Responses to open arrivals: deeper layers first, because some are forwarded. */
static void answer(struct solver *w)
{
	const struct layered *m = w->m;
	double *to = w->out->entry_response;

	for (size_t layer = w->nlayer; layer-- > 0;) {
		for (size_t i = 0; i < m->nentry; i++) {
			size_t t = m->entry[i].task;

			if (m->task[t].layer == layer)
				to[i] = w->asked.wait[asked_at(w, m->ntask + t, t)] +
					w->hold[i * LAYERED_PHASES];
		}
		for (size_t i = 0; i < m->ncall; i++) {
			const struct layered_call *c = &m->call[i];

			if (c->kind == LAYERED_FORWARD &&
			    m->task[m->entry[c->from].task].layer == layer)
				to[c->from] += c->count[0] * to[c->to];
		}
	}
}

static int finish(struct solver *w, struct err *e)
{
	const struct layered *m = w->m;

	for (size_t i = 0; i < m->nentry; i++) {
		size_t t = m->entry[i].task;
		double x = w->out->entry_throughput[i];

		w->out->task_busy[t] += x * w->out->entry_service[i];
		w->out->processor_busy[m->task[t].processor] += x * flow_own_time(w, i);
	}
	answer(w);
	return w->full < w->n ? fail_full(w, w->full, e) : 0;
}

int layered_solve(const struct layered *m, struct layered_result *out, struct err *e)
{
	struct solver w = { .m = m, .out = out };
	int rc;

	*out = (struct layered_result){ 0 };
	rc = solver_init(&w) ? err_nomem(e) : forward_expand(&w, e);
	if (!rc)
		rc = begin(&w, e);
	if (!rc)
		rc = iterate(&w, e);
	if (!rc)
		rc = finish(&w, e);
	solver_done(&w);
	return rc;
}
