/* SPDX-License-Identifier: Apache-2.0 */
/* The culprits of a finding in the blocks of a search, against the other ranks. */
#ifndef TOOLS_WHY_CULPRITS_H
#define TOOLS_WHY_CULPRITS_H

#include "tools/why/blocks.h"
#include "why/finding.h"

/* Shares of the time. Those of culprits are NaN without culprits or figures. */
struct culprits_line {
	double seconds;
	size_t ranks;
	double useful; /* of all ranks outside of MPI */
	double median; /* of the median rank outside of MPI */
	double late; /* of the culprits outside of MPI */
	double compute, run_delay, block_delay; /* of the culprits */
};

/* False: no memory. */
bool culprits_line(const struct why_finding *f, const struct why_block *b,
		   struct culprits_line *out);

/* Means of the culprits over all these blocks. NaN: not known. */
struct culprits_mean {
	double compute, run_delay;
};
struct culprits_mean culprits_mean(const struct why_finding *f, const struct kept *kept);

#endif
