/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers blocks of one job from the monitor, with requests that any tool can send. */
#ifndef TOOLS_WHY_GATHER_H
#define TOOLS_WHY_GATHER_H

#include "tools/why/blocks.h"

struct gather {
	const char *job; /* borrowed */
	char program[TOP_NAME_BYTES]; /* of the ranks; "": not known */
	nsec_t wall_offset; /* of the search's times, to the monotonic clock */
	struct figures figures;
	struct top_sample ranks;
	struct moment last;
	struct hosts hosts;
	/* objects that were asked in the last read, those that replied, and the worst read */
	int64_t asked, answered;
	size_t silent_blocks; /* blocks in which an object did not reply */
	bool is_over; /* no rank of the job has run in the last block */
};

/*
 * Finds the ranks of the job, switches counting on, and reads the first moment. The session is
 * open. Returns an exit status and reports failures; CMD_NOTFOUND: there are no ranks.
 */
int gather_begin(struct gather *g, const char *job);

/*
 * Reads the next moment and makes the block since the last one. is_over: the block is empty, and
 * no other follows. Returns an exit status and reports failures.
 */
int gather_next(struct gather *g, struct blocks_block *out);

/* Switches off what the tool had switched on. */
void gather_end(struct gather *g);

#endif
