/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a spool, oldest first. A place is a number of bytes since the spool was begun; a
 * segment's name is the place where it begins. Where two overlap the later one holds: what the
 * earlier has there could not be made sure of, and was written again.
 */
#ifndef EVENTLOG_SPOOL_SEGMENTS_H
#define EVENTLOG_SPOOL_SEGMENTS_H

#include "common/store/disk.h"

#include <stdbool.h>

/* a terabyte of 256 MB each; and a daemon that restarts all night */
#define SEGMENTS_MAX 4096
#define SEGMENT_NAME_BYTES 32

struct segment {
	uint64_t start, end; /* places; end: of what is good */
	bool is_damaged; /* is set aside instead of removed */
	unsigned tries; /* to read it that failed */
};

struct segments {
	struct segment *v; /* owned */
	size_t n, cap;
	unsigned nbad; /* that were set aside, and are there still */
};

void segments_done(struct segments *s);

/* What is in the folder, with ends as long as the files are. ERR_SYS, ERR_NOMEM, ERR_LIMIT. */
int segments_load(struct segments *s, const struct disk *d, struct err *e);

/* At the end. ERR_NOMEM, ERR_LIMIT. */
int segments_add(struct segments *s, uint64_t start);

/* The first one that has something behind that place; NULL: none. */
struct segment *segments_at(const struct segments *s, uint64_t place);

struct segment *segments_last(const struct segments *s);

/* Drops the first one, whose file has been removed or set aside. */
void segments_pop_front(struct segments *s);

#define SEGMENT_GOOD ".seg"
#define SEGMENT_BAD ".bad" /* was damaged, and is kept for people to look at */
void segment_name(char out[SEGMENT_NAME_BYTES], uint64_t start, const char *kind);

#endif
