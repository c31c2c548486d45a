/* SPDX-License-Identifier: Apache-2.0 */
/* A symptom under test: the losses of its blocks, and what they prove. */
#ifndef WHY_TESTED_H
#define WHY_TESTED_H

#include "why/sequence.h"
#include "why/symptom.h"

/* All zeros: no blocks. */
struct tested {
	struct eprocess e; /* against "at most the threshold", on lower bounds */
	struct sequence sequence; /* of the lower bounds */
	struct moments low, high; /* of the bounds of the blocks */
	unsigned held; /* blocks with a loss above the threshold */
	bool is_lower_bound;
};

void tested_add(struct tested *t, const struct why_loss *loss, double threshold);

/* True if the loss is significant at alpha, large enough to matter, and has held. */
bool tested_has_passed(const struct tested *t, double alpha, double threshold);

#define TESTED_RULED_OUT_MIN 8 /* blocks before a loss is ruled out: rarer losses are not seen */
bool tested_is_ruled_out(const struct tested *t, double threshold);

/* NaN without blocks. */
struct why_range tested_severity(const struct tested *t);

#endif
