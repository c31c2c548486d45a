/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the blocks of a segment, which may be damaged anywhere. */
#ifndef EVENTLOG_SPOOL_WALK_H
#define EVENTLOG_SPOOL_WALK_H

#include "eventlog/evblock.h"
#include "eventlog/spool/segments.h"

#define WALK_WINDOW_BYTES (2 * EVBLOCK_MAX_BYTES)

struct walk {
	const struct disk *disk; /* borrowed */
	const struct segment *segment;
	uint64_t end; /* place of the end, if it is before the end of the segment */
	uint64_t place; /* place of the next byte; advances */
	uint64_t damaged; /* incremented by the number of bytes outside of good blocks */
	uint64_t good_end; /* place behind the last good block */
	/*
	 * Gets a good block, or one of a later version, with its place. If it returns non-zero, the
	 * block is not taken and the walk ends.
	 */
	int (*on_block)(void *arg, const uint8_t *p, const struct evblock *b, uint64_t place);
	void *arg;
};

/*
 * Reads one window of at most WALK_WINDOW_BYTES, owned by the caller. Advances `place`, by at least
 * a byte before the end, unless on_block does not take the first block. Returns 0, or the result of
 * on_block. Fails with ERR_SYS and errno if the window cannot be read.
 */
int walk_window(struct walk *w, uint8_t *window);

#endif
