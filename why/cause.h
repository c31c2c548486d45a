/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why late ranks are late. Their excess is the useful time beyond the mean of the other alike
 * ranks. It is divided into parts. Their shares of the excess sum up to 1. Shares of medians would
 * not.
 *
 *	C1 the rest: more work
 *	C2 ready without a processor
 *	C3 slowed by its host
 *	C4 paging
 *	C5 blocked on disk
 *	C8 asleep
 *
 * A finding with culprits compares their parts with those of the others. Without culprits, the
 * share of a part is cov(part, excess) / var(excess) over the ranks. That is the quantitative
 * explanation of Hellerstein (CMG 1998).
 */
#ifndef WHY_CAUSE_H
#define WHY_CAUSE_H

#include "why/eprocess.h"
#include "why/sequence.h"
#include "why/view.h"

#define CAUSE_LEAST 0.2 /* share of the excess that a cause has at least: 80 % are explained */
#define CAUSE_FAULT_SECONDS 1e-4 /* of a major page fault: a read from a solid-state disk */

/* Shares of one block by cause, from C1. NaN: the evidence is missing, or there is no excess. */
struct cause_shares {
	double of[WHY_CAUSES];
	double ratio; /* useful time of the culprits by that of the others; NaN without culprits */
};

/* The shares of the excess of f's culprits, or of all alike ranks if it names none. */
struct cause_shares cause_shares(struct view *v, const struct why_finding *f, double threshold);

/* The causes of a finding under test. All zeros: no blocks. */
struct causes {
	struct eprocess e[WHY_CAUSES]; /* against "at most CAUSE_LEAST" */
	struct moments share[WHY_CAUSES], ratio;
};

void causes_add(struct causes *c, const struct cause_shares *s);

/* Sets the causes and the ratio of f. Causes pass at alpha, by Holm's procedure. */
void causes_conclude(const struct causes *c, double alpha, struct why_finding *f);

/* Returns the reason why a cause cannot be tested on a block; NULL if it can. */
const char *cause_reason(const struct view *v, enum why_id id);

#endif
