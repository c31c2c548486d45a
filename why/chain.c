/* SPDX-License-Identifier: Apache-2.0 */
#include "why/chain.h"

#include <string.h>

/* The part of time that ends at rank i, since it was working. */
static double absorbed(const struct chain *c, size_t i)
{
	double all = c->useful[i] + c->waited[i];

	return c->waited[i] > 0 ? c->useful[i] / all : 1;
}

/* Moves the time of c->moving by one wait; its second half collects it. */
static void step(struct chain *c, int is_last)
{
	/* A wait takes its part of what its rank holds; the parts of a rank sum up to 1. */
	for (size_t k = 0; k < c->nwait; k++) {
		const struct chain_wait *w = &c->wait[k];
		double part = w->seconds / c->waited[w->from] * c->moving[w->from], stays;

		if (!(w->seconds > 0))
			continue;
		stays = is_last ? 1 : absorbed(c, w->to);
		c->blame[w->to] += part * stays;
		c->moving[c->n + w->to] += part * (1 - stays);
	}
	memcpy(c->moving, c->moving + c->n, c->n * sizeof(*c->moving));
	memset(c->moving + c->n, 0, c->n * sizeof(*c->moving));
}

void chain_blame(struct chain *c)
{
	memset(c->waited, 0, c->n * sizeof(*c->waited));
	memset(c->blame, 0, c->n * sizeof(*c->blame));
	memset(c->moving, 0, 2 * c->n * sizeof(*c->moving));
	for (size_t k = 0; k < c->nwait; k++)
		c->waited[c->wait[k].from] += c->wait[k].seconds;
	memcpy(c->moving, c->waited, c->n * sizeof(*c->moving));
	for (int i = 0; i < CHAIN_STEPS; i++)
		step(c, i == CHAIN_STEPS - 1);
}
