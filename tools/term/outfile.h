/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a command, whole or not at all: under another name until it is whole, with the
 * rights of the earlier file. A device or a pipe is written directly. Reports failures on stderr.
 */
#ifndef TOOLS_TERM_OUTFILE_H
#define TOOLS_TERM_OUTFILE_H

#include "common/base/buf.h"
#include "common/base/file.h"

struct outfile {
	int fd;
	const char *path; /* borrowed; NULL = standard output */
	char part[FILE_PATH_BYTES]; /* what the file is called until it is whole; "" = none */
};

/* These return an exit status. What was there under that name stays until outfile_finish(). */
int outfile_open(struct outfile *o, const char *path);

/* Before work whose output comes at the end: can it be written there? What is there stays. */
int outfile_check(const char *path);

/* Writes what is in b, if that is `least` bytes, and empties it. Blocks until it is written. */
int outfile_put(struct outfile *o, struct buf *b, size_t least);

/* Blocks until a file is on the disk. */
int outfile_finish(struct outfile *o);

/* Removes what is not whole. Of a struct that is all 0 too. */
void outfile_close(struct outfile *o);

#endif
