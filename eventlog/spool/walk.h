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
	uint64_t end; /* place where it ends, if that is before the segment's own end */
	uint64_t place; /* of what is next; moves on */
	uint64_t damaged; /* bytes outside of good blocks; added to */
	uint64_t good_end; /* behind the last good block */
	/*
	 * A good block, or one of a later version, at its place. If it returns non-zero, the block
	 * is not taken and the walk ends.
	 */
	int (*on_block)(void *arg, const uint8_t *p, const struct evblock *b, uint64_t place);
	void *arg;
};

/*
 * Reads one window of at most WALK_WINDOW_BYTES, owned by the caller. Advances `place`, by at least
 * a byte before the end. It stays if on_block does not take the first block. Returns 0, the result
 * of on_block, or -ERR_SYS with errno: the window cannot be read.
 */
int walk_window(struct walk *w, uint8_t *window);

#endif
