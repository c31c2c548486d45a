/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a spool, oldest first. A place is a number of bytes since the spool was begun; a
 * segment's name is the place where it begins. If two overlap, the later one is valid: that part of
 * the earlier one could not be synced, and was written again.
 */
#ifndef EVENTLOG_SPOOL_SEGMENTS_H
#define EVENTLOG_SPOOL_SEGMENTS_H

#include "common/store/disk.h"

#include <stdbool.h>

/* a terabyte of 256 MB each; also enough for a daemon that restarts all night */
#define SEGMENTS_MAX 4096
#define SEGMENT_NAME_BYTES 32

struct segment {
	uint64_t start, end; /* places; end: of the good part */
	bool is_damaged; /* renamed instead of removed */
	unsigned tries; /* failed reads */
};

struct segments {
	struct segment *v; /* owned */
	size_t n, cap;
	unsigned nbad; /* renamed damaged ones in the folder */
};

void segments_done(struct segments *s);

/* Lists the segments of the folder; ends are those of the files. ERR_SYS, ERR_NOMEM, ERR_LIMIT. */
int segments_load(struct segments *s, const struct disk *d, struct err *e);

/* Appends a segment. ERR_NOMEM, ERR_LIMIT. */
int segments_add(struct segments *s, uint64_t start);

/* Returns the first segment with bytes after that place; NULL: none. */
struct segment *segments_at(const struct segments *s, uint64_t place);

struct segment *segments_last(const struct segments *s);

/* Drops the first segment, whose file was removed or renamed. */
void segments_pop_front(struct segments *s);

#define SEGMENT_GOOD ".seg"
#define SEGMENT_BAD ".bad" /* damaged, and left for the user */
void segment_name(char out[SEGMENT_NAME_BYTES], uint64_t start, const char *kind);

#endif
