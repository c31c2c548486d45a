/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals over a set of interactions: sums, means and quantiles of their response times. It has the
 * same for the times in declared states, and with the same objects in use. Source: Ashton and
 * Penny, TR COSC 01/91, section 5.3.
 */
#ifndef INTERACTION_SET_NETTOTAL_H
#define INTERACTION_SET_NETTOTAL_H

#include "interaction/netanalysis.h"
#include "stats/moments.h"
#include "stats/sketch.h"

#define NETTOTAL_PARTS_MAX                                                     \
	4096 /* states, and sets of objects in use; each has a sketch of 6 KiB \
	      */

/* Times of one state, one for each interaction that was in it. */
struct nettotal_part {
	char *name; /* owned; objects with "+" between; "" for none */
	int64_t sum; /* ns */
	int64_t most;
	uint64_t n; /* interactions with time in it */
	struct sketch times; /* of those */
};

struct nettotal_list {
	struct nettotal_part **part; /* owned */
	size_t n, cap;
	struct smap names; /* -> part */
};

struct nettotal {
	struct nettotal_part response;
	struct moments moments; /* of the response times */
	struct nettotal_list states; /* declared */
	struct nettotal_list uses; /* disjoint, their sums are that of response */
	uint64_t discarded; /* outside of the set */
	char *slowest; /* owned; name of the slowest interaction; NULL */
};

void nettotal_init(struct nettotal *t);
void nettotal_done(struct nettotal *t);

/* Adds an interaction, unless it is outside of the set. ERR_LIMIT: a sum of 2^63 ns; ERR_NOMEM. */
int nettotal_add(struct nettotal *t, const char *name, const struct network *w,
		 const struct netanalysis *a, struct err *e);

/* Sorts parts by their sums, the largest first. */
void nettotal_sort(struct nettotal *t);

/* A quantile of the times; NAN when there is none. Interactions without the state count as 0. */
double nettotal_quantile(const struct nettotal *t, const struct nettotal_part *p, double q);

#endif
