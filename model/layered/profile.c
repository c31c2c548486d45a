/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the threads of a task slow one another down: they meet at the stations below. A call is as
 * long as in a closed network with so many customers (Chandy, Herzog and Woo 1975). Other users of
 * a station make it slower by their share of it.
 */
#include "model/layered/internal.h"

#include <math.h>
#include <stdlib.h>

#define OTHERS_MOST 0.95 /* of a station: more would leave nothing */

/* A network of one class: the threads of a task. */
struct below {
	size_t n;
	double think, cycle; /* the second one without the first */
	struct station *kind; /* owned, as the next ones */
	double *visits, *service, *after, *cv2;
	struct network_result result;
};

static void below_done(struct below *b)
{
	free(b->kind);
	free(b->visits);
	free(b->service);
	free(b->after);
	free(b->cv2);
	network_result_done(&b->result);
}

/* The share of a station that is in use beside `own`. */
static double others(const struct solver *w, size_t station, double own)
{
	double servers = solver_station(w, station).servers;

	return fmin(fmax((flow_busy(w, station) - own) / servers, 0), OTHERS_MOST);
}

static int below_alloc(struct below *b, size_t n)
{
	b->kind = calloc(n + 1, sizeof(*b->kind));
	b->visits = calloc(n + 1, sizeof(double));
	b->service = calloc(n + 1, sizeof(double));
	b->after = calloc(n + 1, sizeof(double));
	b->cv2 = calloc(n + 1, sizeof(double));
	return b->kind && b->visits && b->service && b->after && b->cv2 ? 0 : -ERR_NOMEM;
}

/* The share of a station that others use makes it slower. */
static void compact(const struct solver *w, size_t task, struct below *b)
{
	double x = w->out->task_throughput[task];

	for (size_t k = 0; k < w->n; k++) {
		size_t at = asked_at(w, task, k);
		double v = w->flat.visits[at], own, slow;

		if (!(v > 0) || (k < w->m->ntask && w->is_pass[k]))
			continue;
		own = x * v * (w->flat.service[at] + w->flat.after[at]);
		b->kind[b->n] = solver_station(w, k);
		slow = b->kind[b->n].kind == STATION_DELAY ? 1 : 1 / (1 - others(w, k, own));
		b->visits[b->n] = v;
		b->service[b->n] = w->flat.service[at] * slow;
		b->after[b->n] = w->flat.after[at] * slow;
		b->cv2[b->n++] = w->flat.cv2[at];
	}
}

static int below_init(const struct solver *w, size_t task, struct below *b)
{
	if (below_alloc(b, w->n))
		return -ERR_NOMEM;
	compact(w, task, b);
	b->think = flow_think(w, task);
	for (size_t t = 0; w->through && t < w->m->ntask; t++)
		b->think += w->through[task * w->m->ntask + t] * flow_think(w, t);
	return network_result_init(&(struct network){ .classes = 1, .stations = b->n }, &b->result);
}

/* How long an invocation takes while so many threads circulate with a think time. */
static int set_cycle(struct solver *w, struct below *b, unsigned threads, double think,
		     struct err *e)
{
	const double rest = think;
	const struct network n = { .classes = 1,
				   .stations = b->n,
				   .population = &threads,
				   .think = &rest,
				   .visits = b->visits,
				   .service = b->service,
				   .after = b->after,
				   .cv2 = b->cv2,
				   .station = b->kind };
	double work = b->result.work;
	int rc = network_approximate(&n, &b->result, e);

	w->work += b->result.work - work;
	b->cycle = 0;
	for (size_t k = 0; !rc && k < b->n; k++)
		b->cycle += b->result.residence[k];
	return rc;
}

static int fill(struct solver *w, size_t task, struct below *b, struct err *e)
{
	double think = b->think, x = w->out->task_throughput[task], usual;
	double idle = x > 0 ? fmax(w->threads[task] / x - w->cycle[task], 0) : 0;
	unsigned levels = w->levels[task];
	int rc = set_cycle(w, b, w->threads[task], think + idle, e);

	usual = b->cycle;
	for (unsigned i = 0; !rc && i < levels; i++) {
		double n = ceil((double)w->threads[task] * (i + 1) / levels);
		double *to = &w->slower[task][i];

		rc = set_cycle(w, b, (unsigned)n, think, e);
		if (!rc)
			*to += w->damping * ((think + b->cycle) / (think + usual) - *to);
	}
	return rc;
}

int profile_compute(struct solver *w, size_t task, struct err *e)
{
	struct below b = { 0 };
	int rc = below_init(w, task, &b) ? err_nomem(e) : 0;

	if (!rc && b.n && w->cycle[task] > 0)
		rc = fill(w, task, &b, e);
	below_done(&b);
	return rc;
}
