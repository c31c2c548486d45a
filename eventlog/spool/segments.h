/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a spool, oldest first. A place is an offset in bytes since the spool was made. The
 * name of a segment is the place of its first byte. If two segments overlap, the later one is
 * valid: a part of the earlier one could not be synced.
 */
#ifndef EVENTLOG_SPOOL_SEGMENTS_H
#define EVENTLOG_SPOOL_SEGMENTS_H

#include "common/store/disk.h"

#include <stdbool.h>

/* a terabyte in segments of 256 MB; also enough for a daemon that restarts all night */
#define SEGMENTS_MAX 4096
#define SEGMENT_NAME_BYTES 32

struct segment {
	uint64_t start, end; /* places; end: behind the last good block */
	bool is_damaged; /* to be renamed instead of removed */
	unsigned tries; /* failed reads */
};

struct segments {
	struct segment *v; /* owned */
	size_t n, cap;
	unsigned nbad; /* damaged segments in the folder, which have been renamed */
};

void segments_done(struct segments *s);

/*
 * Lists the segments of the folder; their ends are those of the files. Fails with ERR_SYS,
 * ERR_NOMEM, ERR_LIMIT.
 */
int segments_load(struct segments *s, const struct disk *d, struct err *e);

/* Appends a segment. Fails with ERR_NOMEM, ERR_LIMIT. */
int segments_add(struct segments *s, uint64_t start);

/* Returns the first segment with bytes behind that place; NULL if there is none. */
struct segment *segments_at(const struct segments *s, uint64_t place);

struct segment *segments_last(const struct segments *s);

/* Drops the first segment, whose file was removed or renamed. */
void segments_pop_front(struct segments *s);

#define SEGMENT_GOOD ".seg"
#define SEGMENT_BAD ".bad" /* suffix of a damaged segment, which is left for the user */
void segment_name(char out[SEGMENT_NAME_BYTES], uint64_t start, const char *kind);

#endif
