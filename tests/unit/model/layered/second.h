/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact Markov chain of clients and a server with two phases: the judge of second phases. A
 * client thinks, then waits for a thread and for the first phase. The thread goes on with the
 * second one. The processor is shared by all threads, or has no queue. All times are exponential.
 */
#ifndef TESTS_UNIT_MODEL_LAYERED_SECOND_H
#define TESTS_UNIT_MODEL_LAYERED_SECOND_H

#include "common/base/buf.h"

#include <math.h>
#include <stdbool.h>

#define SECOND_CLIENTS_MAX 10
#define SECOND_THREADS_MAX 3
#define SECOND_SWEEPS 20000

struct second {
	int clients, threads;
	double think, phase[2];
	bool is_shared;
};

/* waiting, in the first phase, in the second one */
struct second_chain {
	const struct second *given;
	double p[SECOND_CLIENTS_MAX + 1][SECOND_THREADS_MAX + 1][SECOND_THREADS_MAX + 1];
};

static bool second_is_state(const struct second *s, int q, int a, int b)
{
	return q >= 0 && a >= 0 && b >= 0 && a + b <= s->threads && q + a <= s->clients &&
	       (!q || a + b == s->threads);
}

static double second_phase_rate(const struct second *s, int phase, int a, int b)
{
	int own = phase ? b : a;

	if (own <= 0 || a < 0 || b < 0)
		return 0;
	return (s->is_shared ? (double)own / (a + b) : own) / s->phase[phase];
}

static double second_p(const struct second_chain *c, int q, int a, int b)
{
	return second_is_state(c->given, q, a, b) ? c->p[q][a][b] : 0;
}

/* The probability that flows into a state in a unit of time. */
static double second_inflow(const struct second_chain *c, int q, int a, int b)
{
	const struct second *s = c->given;
	bool is_full = a + b == s->threads;
	/* an end of a first phase: one more was in it */
	double sum = second_p(c, q, a + 1, b - 1) * second_phase_rate(s, 0, a + 1, b - 1);

	/* a client comes: to a free thread, or to the queue */
	if (!q)
		sum += second_p(c, 0, a - 1, b) * (s->clients - a + 1) / s->think;
	else
		sum += second_p(c, q - 1, a, b) * (s->clients - q - a + 1) / s->think;
	/* an end of a second phase: the thread is free, or takes the next one of the queue */
	if (!q)
		sum += second_p(c, 0, a, b + 1) * second_phase_rate(s, 1, a, b + 1);
	if (is_full)
		sum += second_p(c, q + 1, a - 1, b + 1) * second_phase_rate(s, 1, a - 1, b + 1);
	return sum;
}

static double second_outflow(const struct second *s, int q, int a, int b)
{
	return (s->clients - q - a) / s->think + second_phase_rate(s, 0, a, b) +
	       second_phase_rate(s, 1, a, b);
}

/* Balances each state once. Returns the greatest change. */
static double second_sweep(struct second_chain *c, double *thinking)
{
	const struct second *s = c->given;
	double most = 0, all = 0;

	*thinking = 0;
	for (int a = 0; a <= s->threads; a++)
		for (int b = 0; a + b <= s->threads; b++)
			for (int q = 0; q <= s->clients - a; q++) {
				double v;

				if (!second_is_state(s, q, a, b))
					continue;
				v = second_inflow(c, q, a, b) / second_outflow(s, q, a, b);
				most = fmax(most, fabs(v - c->p[q][a][b]));
				c->p[q][a][b] = v;
				all += v;
				*thinking += v * (s->clients - q - a);
			}
	*thinking /= all;
	for (int a = 0; a <= s->threads; a++)
		for (int b = 0; a + b <= s->threads; b++)
			for (int q = 0; q <= s->clients - a; q++)
				c->p[q][a][b] /= all;
	return most / all;
}

static double second_throughput(const struct second *s)
{
	static struct second_chain c;
	double thinking = 0;

	c.given = s;
	for (double *v = &c.p[0][0][0]; v < &c.p[0][0][0] + sizeof(c.p) / sizeof(double); v++)
		*v = 1;
	for (int i = 0; i < SECOND_SWEEPS; i++)
		if (second_sweep(&c, &thinking) < 1e-13)
			break;
	return thinking / s->think;
}

static void second_model(const struct second *s, struct buf *b)
{
	buf_printf(b,
		   "P 0\np d i\np c %s\n-1\nT 0\nt u r g -1 d z %g m %d\nt s n e -1 c m %d\n-1\n"
		   "E 0\ny g e 1 -1\ns e %g %g -1\n-1\n",
		   s->is_shared ? "p" : "i", s->think, s->clients, s->threads, s->phase[0],
		   s->phase[1]);
}

#endif
