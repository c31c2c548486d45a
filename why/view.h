/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block as the tests see it: shares of time by rank, and ranks that are alike. Ranks have one
 * role if they make about as many calls of each kind: within a factor of two, from the start on.
 * Sends, receives and completions are one kind: the ends of a pipeline lack one of them.
 * Only ranks of the largest role are compared: a master or an I/O rank is not a culprit.
 */
#ifndef WHY_VIEW_H
#define WHY_VIEW_H

#include "why/block.h"
#include "why/chain.h"

#include <stdbool.h>

#define VIEW_ROLES_MAX 16 /* later ones count together as one role that is not compared */
#define VIEW_CALLS_SLACK 16 /* calls that alike ranks may differ by: collectives of a start-up */

/* A pair of hosts with messages, or of ranks with waits. */
struct view_edge {
	uint64_t key;
	double wait; /* seconds, middle of the bounds */
	double weight; /* bytes, and 64 for each message: its header and latency */
};

#define VIEW_KINDS 7 /* of calls */

struct view_counts {
	double calls[VIEW_KINDS]; /* of a rank since the start */
};

/* The view owns all arrays. All zeros: no block. */
struct view {
	const struct why_block *b; /* of the last view_update() */
	size_t cap; /* ranks for which the arrays have room */
	size_t counts_cap;
	struct view_counts *counts; /* by rank number */
	uint32_t *host_of; /* by index in the block */
	double *useful; /* by index in the block: share of time outside of MPI; NaN: not known */
	double *share; /* scratch for one symptom; NaN: the rank has no part in it */
	bool *is_explained; /* by index, for one symptom: its cost is taken off */
	bool *is_alike; /* by index in the block: it has the largest role */
	uint8_t *role;
	size_t host_cap;
	double *host; /* scratch: ranks of a host that are compared */
	size_t edge_cap;
	struct view_edge *edge; /* scratch, one for each pair */
	size_t wait_cap;
	struct chain_wait *wait; /* scratch, one for each pair */
	size_t blame_cap;
	double *blame[4]; /* scratch by index in the block; each has two numbers for a rank */
	size_t known, alike; /* ranks */
	/* Of each class: the ranks that have it, and their totals. */
	size_t has_class[WHY_CLASSES];
	double calls[WHY_CLASSES], seconds[WHY_CLASSES], bytes[WHY_CLASSES];
	size_t has_figure[WHY_FIGURES];
	double useful_median; /* of alike ranks */
};

/* Fails with ERR_NOMEM: then the view is as before. */
int view_reserve(struct view *v, const struct why_block *b, struct err *e);

/* Takes the block, which is borrowed until the next one; there is room for it. */
void view_update(struct view *v, const struct why_block *b);

void view_done(struct view *v);

/* Returns x, at most `max`; NaN for NaN, unlike fmin(). */
static inline double at_most(double x, double max)
{
	return x > max ? max : x;
}

/* Returns the index of a rank in the block; (size_t)-1 if it has none. */
size_t view_index(const struct why_block *b, int32_t rank);

/*
 * Returns the median of the values of alike ranks, without NaN. Of more than VIEW_SAMPLE_MAX it
 * takes every k-th one. NaN without values.
 */
#define VIEW_SAMPLE_MAX 512 /* the median of so many is within 5 % of the ranks of the true one */
double view_median(const struct view *v, const double *value);

#endif
