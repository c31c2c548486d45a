/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exact Markov chain: clients think, wait for a thread of a server, use its processor, then a
 * disk. It judges solutions and simulations of that layered model. Open queues have their formula.
 */
#ifndef TESTS_UNIT_MODEL_CHAIN_H
#define TESTS_UNIT_MODEL_CHAIN_H

#include "common/base/buf.h"

#include <math.h>
#include <stddef.h>

#define CLIENTS_MAX 7
#define SWEEPS_MAX 20000

struct chain {
	int clients, threads;
	double think, cpu, disk;
	double p[CLIENTS_MAX + 1][CLIENTS_MAX + 1][CLIENTS_MAX + 1]; /* [waiting][cpu][disk] */
};

static inline bool is_state(const struct chain *c, int w, int a, int b)
{
	return w >= 0 && a >= 0 && b >= 0 && w + a + b <= c->clients && a + b <= c->threads &&
	       (!w || a + b == c->threads);
}

static inline double p_of(const struct chain *c, int w, int a, int b)
{
	return is_state(c, w, a, b) ? c->p[w][a][b] : 0;
}

/* The flow into a state, for Gauss and Seidel. */
static inline double inflow(const struct chain *c, int w, int a, int b)
{
	double v = 0;

	/* an arrival */
	if (w)
		v += p_of(c, w - 1, a, b) * (c->clients - (w - 1) - a - b) / c->think;
	else if (a)
		v += p_of(c, 0, a - 1, b) * (c->clients - (a - 1) - b) / c->think;
	/* from the processor to the disk */
	if (b)
		v += p_of(c, w, a + 1, b - 1) / c->cpu;
	/* the end of a request; a waiting one takes its thread */
	if (a)
		v += p_of(c, w + 1, a - 1, b + 1) / c->disk;
	if (!w)
		v += p_of(c, 0, a, b + 1) / c->disk;
	return v;
}

static inline double outflow(const struct chain *c, int w, int a, int b)
{
	return (c->clients - w - a - b) / c->think + (a > 0) / c->cpu + (b > 0) / c->disk;
}

static inline double sweep(struct chain *c)
{
	double all = 0, most = 0;

	for (int w = 0; w <= c->clients; w++)
		for (int a = 0; a <= c->threads; a++)
			for (int b = 0; b <= c->threads; b++)
				if (is_state(c, w, a, b)) {
					double to = inflow(c, w, a, b) / outflow(c, w, a, b);
					/* half a step: cycles of states would swing otherwise */
					double v = (c->p[w][a][b] + to) / 2;

					most = fmax(most, fabs(v - c->p[w][a][b]));
					c->p[w][a][b] = v;
					all += v;
				}
	for (int w = 0; w <= c->clients; w++)
		for (int a = 0; a <= c->threads; a++)
			for (int b = 0; b <= c->threads; b++)
				c->p[w][a][b] /= all;
	return most;
}

static inline double chain_throughput(struct chain *c)
{
	double x = 0;

	for (size_t i = 0; i < sizeof(c->p) / sizeof(double); i++)
		(&c->p[0][0][0])[i] = 1;
	for (int i = 0; i < SWEEPS_MAX && sweep(c) > 1e-12; i++)
		;
	for (int w = 0; w <= c->clients; w++)
		for (int a = 0; a <= c->threads; a++)
			for (int b = 1; b <= c->threads; b++)
				x += p_of(c, w, a, b) / c->disk;
	return x;
}

/* The same as a layered model: a cycle has one slice of the processor, then one of the disk. */
static inline void chain_model(const struct chain *c, struct buf *out)
{
	buf_printf(out,
		   "P 0\np desk i\np cpu f\np disk f\n-1\n"
		   "T 0\nt user r go -1 desk z %.10g m %d\nt server n serve -1 desk m %d\n"
		   "t work i use -1 cpu\nt store i get -1 disk\n-1\n"
		   "E 0\nf go 1 -1\ny go serve 1 -1\nf serve 1 -1\ny serve use 1 -1\n"
		   "y serve get 1 -1\ns use %.10g -1\ns get %.10g -1\n-1\n",
		   c->think, c->clients, c->threads, c->cpu, c->disk);
}

/* The probability that an arrival finds all m servers in use; load: of all of them. */
static inline double erlang_c(unsigned m, double load)
{
	double term = 1, sum = 0;

	for (unsigned i = 0; i < m; i++) {
		sum += term;
		term *= load / (i + 1);
	}
	term *= m / (m - load);
	return term / (sum + term);
}

#endif
