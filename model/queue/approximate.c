/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linearizer (Chandy and Neuse 1982) over the core of Bard and Schweitzer. A customer that arrives
 * finds the queues of a network without it. The share of a class at a station is slightly different
 * there. Schweitzer takes the difference as 0. Linearizer finds it from solutions with one customer
 * less.
 */
#include "model/queue/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 20000
#define CLOSE 1e-10 /* relative change of queues between two steps */
#define ROUNDS 3 /* of Linearizer, as published */
#define LINEARIZER_MAX 200000 /* classes^3 times stations: a tenth of a second */

struct core {
	const struct network *n;
	double *population; /* owned; may have one customer less */
	double *change; /* owned; [(without * classes + class) * stations + station]; NULL: 0 */
	double *sum; /* owned; of queues at each station, weighed by service times if FCFS */
	double work; /* as in the result */
};

static double weight(const struct network *n, size_t c, size_t k)
{
	return n->station[k].kind == STATION_FCFS ? n->service[c * n->stations + k] : 1;
}

static void add_up(struct core *w, const double *queue)
{
	const struct network *n = w->n;

	memset(w->sum, 0, n->stations * sizeof(*w->sum));
	for (size_t c = 0; c < n->classes; c++)
		for (size_t k = 0; k < n->stations; k++)
			w->sum[k] += weight(n, c, k) * queue[c * n->stations + k];
}

/* The queue that a customer of class c finds at station k. */
static double found(const struct core *w, size_t c, size_t k, const double *queue)
{
	const struct network *n = w->n;
	double own = w->population[c] > 0 ? queue[c * n->stations + k] / w->population[c] : 0;
	double v = w->sum[k] - weight(n, c, k) * own;

	for (size_t j = 0; w->change && j < n->classes; j++)
		v += weight(n, j, k) * (w->population[j] - (j == c)) *
		     w->change[(c * n->classes + j) * n->stations + k];
	return fmax(v, 0);
}

/* Seidmann: m servers are one of m times the speed, and a delay for the rest of the time. */
static double residence(const struct core *w, size_t c, size_t k, const double *queue)
{
	const struct network *n = w->n;
	size_t at = c * n->stations + k;
	double v = n->visits[at], s = n->service[at], m = n->station[k].servers;

	if (n->station[k].kind == STATION_DELAY || !(v > 0))
		return v * s;
	if (n->station[k].kind == STATION_FCFS)
		return v * (s + found(w, c, k, queue) / m);
	return v * s * (1 + found(w, c, k, queue) / m);
}

/* The part of a queue that waits for the fast server, or is at it. */
static double counted(const struct network *n, size_t at, size_t k, double r)
{
	double m = n->station[k].servers;

	return n->station[k].kind == STATION_DELAY
		       ? r
		       : fmax(r - n->visits[at] * n->service[at] * (m - 1) / m, 0);
}

/* One step for all classes. Returns the greatest relative change of a queue. */
static double step(struct core *w, struct network_result *out)
{
	const struct network *n = w->n;
	double most = 0;

	w->work += (double)n->classes * (double)n->stations * (w->change ? (double)n->classes : 1);
	add_up(w, out->queue);
	for (size_t c = 0; c < n->classes; c++) {
		double cycle = n->think[c];

		for (size_t k = 0; k < n->stations; k++) {
			size_t at = c * n->stations + k;

			out->residence[at] = residence(w, c, k, out->queue);
			cycle += out->residence[at];
		}
		out->throughput[c] = cycle > 0 ? w->population[c] / cycle : 0;
	}
	for (size_t at = 0; at < n->classes * n->stations; at++) {
		size_t c = at / n->stations, k = at % n->stations;
		double q = out->throughput[c] * counted(n, at, k, out->residence[at]);

		most = fmax(most, fabs(q - out->queue[at]) / fmax(w->population[c], 1));
		out->queue[at] = q;
	}
	return most;
}

static int converge(struct core *w, struct network_result *out, struct err *e)
{
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		if (w->work > NETWORK_WORK_MAX)
			return err_set(e, ERR_LIMIT,
				       "it needs more than %g residence times: too large, or "
				       "without convergence",
				       NETWORK_WORK_MAX);
		if (step(w, out) < CLOSE)
			return 0;
	}
	return err_set(e, ERR_LIMIT, "mean value analysis does not converge");
}

static void set_population(struct core *w)
{
	for (size_t c = 0; c < w->n->classes; c++)
		w->population[c] = w->n->population[c];
}

/* The shares without a customer of class c, minus those with all. */
static void note_change(struct core *w, size_t c, const struct network_result *all,
			const struct network_result *less)
{
	const struct network *n = w->n;

	for (size_t j = 0; j < n->classes; j++)
		for (size_t k = 0; k < n->stations; k++) {
			size_t at = j * n->stations + k;
			double with = n->population[j] ? all->queue[at] / n->population[j] : 0;
			double without =
				w->population[j] > 0 ? less->queue[at] / w->population[j] : 0;

			/* a class that has gone has no share to compare */
			w->change[(c * n->classes + j) * n->stations + k] =
				w->population[j] > 0 ? without - with : 0;
		}
}

static int linearize(struct core *w, struct network_result *out, struct err *e)
{
	const struct network *n = w->n;
	struct network_result less;
	int rc = network_result_init(n, &less);
	double *next = calloc(n->classes * n->classes * n->stations + 1, sizeof(double));

	if (!next && !rc)
		rc = -ERR_NOMEM;
	for (unsigned round = 0; !rc && round < ROUNDS; round++) {
		double *was = w->change;

		for (size_t c = 0; !rc && c < n->classes; c++) {
			if (!n->population[c])
				continue;
			w->population[c]--;
			memcpy(less.queue, out->queue, n->classes * n->stations * sizeof(double));
			rc = converge(w, &less, e);
			w->change = next;
			note_change(w, c, out, &less);
			w->change = was;
			w->population[c]++;
		}
		w->change = next;
		next = was;
		if (!rc)
			rc = converge(w, out, e);
	}
	network_result_done(&less);
	free(next);
	return rc == -ERR_NOMEM ? err_nomem(e) : rc;
}

static void begin(const struct network *n, struct network_result *out)
{
	for (size_t at = 0; !out->steps && at < n->classes * n->stations; at++)
		out->queue[at] =
			n->visits[at] * n->service[at] > 0
				? (double)n->population[at / n->stations] / (double)n->stations
				: 0;
	out->steps++;
}

/* Queues with all customers at a station, also those at the delays of several servers. */
static void finish(const struct network *n, struct network_result *out)
{
	for (size_t at = 0; at < n->classes * n->stations; at++)
		out->queue[at] = out->throughput[at / n->stations] * out->residence[at];
}

int network_approximate(const struct network *n, struct network_result *out, struct err *e)
{
	struct core w = { .n = n, .work = out->work };
	double size =
		(double)n->classes * (double)n->classes * (double)n->classes * (double)n->stations;
	bool is_fine = size <= LINEARIZER_MAX;
	int rc = network_check(n, e);

	if (rc)
		return rc;
	w.population = calloc(n->classes + 1, sizeof(double));
	w.sum = calloc(n->stations + 1, sizeof(double));
	if (is_fine)
		w.change = calloc(n->classes * n->classes * n->stations + 1, sizeof(double));
	if (!w.population || !w.sum || (is_fine && !w.change)) {
		rc = err_nomem(e);
	} else {
		set_population(&w);
		begin(n, out);
		rc = converge(&w, out, e);
	}
	if (!rc && is_fine)
		rc = linearize(&w, out, e);
	if (!rc)
		finish(n, out);
	out->work = w.work;
	free(w.population);
	free(w.sum);
	free(w.change);
	return rc;
}
