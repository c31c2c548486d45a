/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A symptom under test: the losses of its blocks, and what they prove. Blocks that depend on their
 * neighbours are merged to longer ones, as batch means are (docs/stats.md). At a change of the
 * mean, its estimates start again.
 */
#ifndef WHY_TESTED_H
#define WHY_TESTED_H

#include "why/eprocess.h"
#include "why/sequence.h"
#include "why/symptom.h"

#define TESTED_KEPT 64 /* values since the last change */
#define TESTED_MERGED_MAX 8 /* blocks in a value */
#define TESTED_SERIAL_MIN 16 /* values before their serial correlation is tested */
#define TESTED_RULED_OUT_MIN 8 /* values before a loss is ruled out: it may be rare */

struct tested_value {
	double low, high; /* bounds of the loss */
	nsec_t begin;
};

/* All zeros: no blocks. */
struct tested {
	struct eprocess e; /* against "at most the threshold", on lower bounds */
	unsigned attempts; /* tests that ended since their loss was gone */
	struct tested_value value[TESTED_KEPT]; /* since the last change */
	size_t n;
	struct moments low, high; /* of the values since the last change, dropped ones included */
	unsigned held; /* blocks since the last change with a loss above the threshold */
	bool is_lower_bound;
	nsec_t since; /* begin of the values since the last change */
	nsec_t changed; /* end of the values before; 0: no change yet */
	double before; /* the mean loss before the change */
	unsigned merged, pending; /* blocks in a value; in the next one, so far. 0: one */
	double sum_low, sum_high; /* of pending blocks */
	nsec_t pending_begin;
};

/* Adds the loss of a block that began at `begin`. Returns true if the mean has changed. */
bool tested_add(struct tested *t, const struct why_loss *l, nsec_t begin, double threshold);

/* Returns the p-value of "the loss is at most the threshold", over all attempts. */
double tested_p(const struct tested *t);

/* True if the present loss is large enough to matter, and has held. */
bool tested_matters(const struct tested *t, double threshold);

/* True if the upper bound of the loss is below the threshold. */
bool tested_is_ruled_out(const struct tested *t, double threshold);

/* Starts the test again: its loss is gone. */
void tested_restart(struct tested *t);

/* Returns the mean and its interval at 95 % since the last change. NaN without values. */
struct why_range tested_severity(const struct tested *t);

/* Returns the interval at 95 % of the kept values for any distribution in [0, 1]. */
struct why_range tested_guaranteed(const struct tested *t);

#endif
