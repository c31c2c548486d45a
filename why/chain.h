/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root causes along the waits. If r waits for s, and s for t, then t costs time of r, too. That is
 * the delay cost of Boehme, Geimer and others (ICPP 2010). It is an estimate, since it has
 * intervals instead of events.
 */
#ifndef WHY_CHAIN_H
#define WHY_CHAIN_H

#include <stddef.h>
#include <stdint.h>

struct chain_wait {
	uint32_t from, to; /* indices of ranks: from waited for to */
	double seconds;
};

#define CHAIN_STEPS 20 /* a chain of so many waits keeps less than 1 % if half is absorbed */

/* The caller owns the arrays; each of ranks has n numbers. */
struct chain {
	size_t n; /* ranks */
	const double *useful; /* seconds of each rank outside of MPI */
	const struct chain_wait *wait;
	size_t nwait;
	double *waited; /* out: seconds that each rank waited */
	double *moving; /* scratch, of 2n numbers */
	double *blame; /* out: seconds that ranks waited because of each rank; sum: all waits */
};

/*
 * Computes the blame by an absorbing Markov chain. The time of r moves to s in proportion to its
 * waits. At s, the part useful / (useful + waited) stays, and the rest moves on. After CHAIN_STEPS
 * steps the rest stays where it is. O(waits x steps).
 */
void chain_blame(struct chain *c);

#endif
