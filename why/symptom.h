/* SPDX-License-Identifier: Apache-2.0 */
/* The loss of a block by hypothesis: what the figures of its ranks say about it. */
#ifndef WHY_SYMPTOM_H
#define WHY_SYMPTOM_H

#include "why/finding.h"
#include "why/view.h"

#define WHY_LATE_MAX 256 /* if more ranks are late, `last` alone counts */

/*
 * Shares of all rank-seconds of the block. The true loss is in [low, high]: ranks that are not
 * known count as 0 in low and as 1 in high.
 */
struct why_loss {
	double low, high;
	bool is_lower_bound; /* even of the known ranks: the totals of a block hide a part */
	const char *reason; /* the evidence is missing; NULL: the loss is known */
	int64_t last; /* rank or partners_link() for which others waited; -1: none stands out */
	/* The last ones: `last`, and other ranks that stand out as much or nearly so. */
	int64_t late[WHY_LATE_MAX];
	size_t nlate;
	size_t compared; /* alike ranks with a part in it */
};

/* Ranks whose cost is taken off, since it is explained. */
struct why_explained {
	const struct why_finding *by[2];
	size_t n;
};

/*
 * The loss of hypothesis id, without what is explained. `threshold` is the severity that matters:
 * a last rank is ahead of the median by half of it.
 */
struct why_loss why_loss(struct view *v, enum why_id id, const struct why_explained *x,
			 double threshold);

/* True for hypotheses about one late rank, of which there may be several. */
bool why_has_culprits(enum why_id id);

#endif
