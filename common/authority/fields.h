/* SPDX-License-Identifier: Apache-2.0 */
/* The small files of the state directory: a record a line, fields by tabs. They block as
 * files do. */
#ifndef COMMON_AUTHORITY_FIELDS_H
#define COMMON_AUTHORITY_FIELDS_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Cuts the line in place. Returns how many there are; at most max are set. */
size_t fields_split(char *line, char **field, size_t max);

/*
 * Calls fn for each line of a secret file of ours; a missing file has none. The text of a failure
 * names file and line.
 */
int fields_read(const char *path, size_t max_bytes, int (*fn)(void *arg, char *line, struct err *e),
		void *arg, struct err *e);

/*
 * A file to which lines are added. Zero-initialise but for path and max_bytes. A crash may cut the
 * last line: what was being added then is not read.
 */
struct fields_log {
	const char *path; /* borrowed */
	size_t max_bytes;
	size_t bytes, lines; /* in the file */
	bool is_whole; /* a line can be added; else it must be written again first */
};

int fields_log_read(struct fields_log *l, int (*fn)(void *arg, char *line, struct err *e),
		    void *arg, struct err *e);

/* The line is on the disk when it returns 0. ERR_LIMIT: not whole, or full. */
int fields_log_add(struct fields_log *l, const struct buf *line, struct err *e);

/* All lines, all or nothing. */
int fields_log_write(struct fields_log *l, const struct buf *all, size_t lines, struct err *e);

#endif
