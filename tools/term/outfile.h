/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output file of a command, complete or not at all. It has another name until it is complete,
 * and the rights of the earlier file. A device or a pipe is written directly. Reports failures on
 * stderr.
 */
#ifndef TOOLS_TERM_OUTFILE_H
#define TOOLS_TERM_OUTFILE_H

#include "common/base/buf.h"
#include "common/base/file.h"

struct outfile {
	int fd;
	const char *path; /* borrowed; NULL = standard output */
	char part[FILE_PATH_BYTES]; /* temporary name; "" = none */
};

/* These return an exit status. An existing file of that name stays until outfile_finish(). */
int outfile_open(struct outfile *o, const char *path);

/*
 * Before work whose output comes at the end: checks that the file can be written. It is not
 * changed.
 */
int outfile_check(const char *path);

/*
 * Writes the contents of b, if there are `least` bytes, and empties it. Blocks until it is written.
 */
int outfile_put(struct outfile *o, struct buf *b, size_t least);

/* Blocks until a file is on the disk. */
int outfile_finish(struct outfile *o);

/* Removes an incomplete file. An all-zero struct is fine. */
void outfile_close(struct outfile *o);

/* All of these in one: the file gets the contents of b, which is unchanged. NULL: stdout. */
int outfile_write(const char *path, const struct buf *b);

#endif
