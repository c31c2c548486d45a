/* SPDX-License-Identifier: Apache-2.0 */
/* The loss of a block by hypothesis: what the figures of its ranks say about it. */
#ifndef WHY_SYMPTOM_H
#define WHY_SYMPTOM_H

#include "why/block.h"
#include "why/finding.h"

/*
 * Shares of all rank-seconds of the block. The true loss is in [low, high]: ranks that are not
 * known count as 0 in low and as 1 in high. NaN with a reason: the evidence is missing.
 */
struct why_loss {
	double low, high;
	const char *reason; /* NULL: the loss is known */
};

struct why_loss why_loss(const struct why_block *b, enum why_id id);

/* Returns the number of ranks of which something is known. */
uint32_t why_covered(const struct why_block *b);

#endif
