/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact mean value analysis (Reiser and Lavenberg 1980). Populations are the digits of a number
 * that counts upwards. So each one comes after those with one customer less. With one class,
 * stations of m servers keep the probabilities of 0 to m - 2 customers.
 */
#include "model/queue/network.h"

#include <stdlib.h>
#include <string.h>

struct exact {
	const struct network *n;
	struct network_result *out;
	double *queue; /* owned; of all classes together, [population * stations + station] */
	double *idle; /* owned; one class: [station * servers_max + customers] */
	unsigned servers_max;
	size_t *step; /* owned; of one customer of each class in the number of a population */
	unsigned *digit; /* owned; the current population */
};

static void exact_done(struct exact *w)
{
	free(w->queue);
	free(w->idle);
	free(w->step);
	free(w->digit);
}

static int count(const struct network *n, size_t *states, struct err *e)
{
	double all = 1;

	for (size_t c = 0; c < n->classes; c++)
		all *= n->population[c] + 1.0;
	if (all * (double)n->stations > NETWORK_EXACT_MAX)
		return err_set(e, ERR_LIMIT, "%.3g populations are too many to be exact", all);
	*states = (size_t)all;
	return 0;
}

static int exact_init(struct exact *w, struct err *e)
{
	const struct network *n = w->n;
	size_t states = 0, step = 1;
	int rc = count(n, &states, e);

	if (rc)
		return rc;
	w->servers_max = 1;
	for (size_t k = 0; k < n->stations; k++)
		if (n->station[k].kind != STATION_DELAY && n->station[k].servers > w->servers_max)
			w->servers_max = n->station[k].servers;
	if (w->servers_max > 1 && n->classes > 1)
		return err_set(e, ERR_UNSUPPORTED,
			       "several servers with several classes are not exact here");
	if ((double)w->servers_max * (double)n->stations > NETWORK_EXACT_MAX)
		return err_set(e, ERR_LIMIT, "%u servers are too many to be exact", w->servers_max);
	w->queue = calloc(states * n->stations + 1, sizeof(double));
	w->idle = calloc(w->servers_max * n->stations + 1, sizeof(double));
	w->step = calloc(n->classes + 1, sizeof(size_t));
	w->digit = calloc(n->classes + 1, sizeof(unsigned));
	if (!w->queue || !w->idle || !w->step || !w->digit)
		return err_nomem(e);
	for (size_t c = 0; c < n->classes; c++) {
		w->step[c] = step;
		step *= n->population[c] + 1;
	}
	for (size_t k = 0; k < n->stations; k++)
		w->idle[k * w->servers_max] = 1;
	return 0;
}

/* The residence of a cycle of class c, with `before` others as the queues of one customer less. */
static double residence(const struct exact *w, size_t c, size_t k, const double *before)
{
	const struct network *n = w->n;
	const struct station *s = &n->station[k];
	double d = n->visits[c * n->stations + k] * n->service[c * n->stations + k];
	double ahead = 1 + before[k];

	if (s->kind == STATION_DELAY)
		return d;
	for (unsigned j = 0; j + 1 < s->servers; j++)
		ahead += (s->servers - 1 - j) * w->idle[k * w->servers_max + j];
	return d / s->servers * ahead;
}

/* The probabilities of 0 to m - 2 customers of the next population; x: throughput. One class. */
static void note_idle(struct exact *w, double x)
{
	const struct network *n = w->n;

	for (size_t k = 0; k < n->stations; k++) {
		double *p = w->idle + k * w->servers_max, d = n->visits[k] * n->service[k];
		unsigned m = n->station[k].servers;
		double busy = x * d;

		if (n->station[k].kind == STATION_DELAY || m < 2)
			continue;
		for (unsigned j = m - 1; j > 0; j--) {
			p[j] = x * d / j * p[j - 1];
			busy += (m - j) * p[j];
		}
		p[0] = busy < m ? 1 - busy / m : 0;
	}
}

static void solve_state(struct exact *w, size_t state)
{
	const struct network *n = w->n;
	double *queue = w->queue + state * n->stations;

	for (size_t c = 0; c < n->classes; c++) {
		const double *before;
		double cycle = n->think[c], *r = w->out->residence + c * n->stations;

		w->out->throughput[c] = 0;
		if (!w->digit[c])
			continue;
		before = w->queue + (state - w->step[c]) * n->stations;
		for (size_t k = 0; k < n->stations; k++) {
			r[k] = residence(w, c, k, before);
			cycle += r[k];
		}
		w->out->throughput[c] = w->digit[c] / cycle;
		for (size_t k = 0; k < n->stations; k++)
			queue[k] += w->out->throughput[c] * r[k];
	}
	if (n->classes == 1)
		note_idle(w, w->out->throughput[0]);
}

/* Counts the next population. Returns false after the last. */
static bool next(struct exact *w)
{
	for (size_t c = 0; c < w->n->classes; c++) {
		if (w->digit[c] < w->n->population[c]) {
			w->digit[c]++;
			return true;
		}
		w->digit[c] = 0;
	}
	return false;
}

int network_exact(const struct network *n, struct network_result *out, struct err *e)
{
	struct exact w = { .n = n, .out = out };
	int rc = network_check(n, e);

	if (!rc)
		rc = exact_init(&w, e);
	for (size_t state = 1; !rc && next(&w); state++)
		solve_state(&w, state);
	for (size_t c = 0; !rc && c < n->classes; c++)
		for (size_t k = 0; k < n->stations; k++)
			out->queue[c * n->stations + k] =
				out->throughput[c] * out->residence[c * n->stations + k];
	exact_done(&w);
	out->steps = 1;
	return rc;
}
