/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small state that outlives its daemon: one format for all of it, and one reader, which takes
 * nothing on trust. A file is replaced whole, and may grow by records in between:
 *
 *     omig-store WHAT VERSION BYTES CRC\n   and BYTES bytes: what was written last
 *     +BYTES CRC\n                          and BYTES bytes: a record, as often as one was added
 *
 * BYTES and CRC have eight hex digits; CRC is the CRC-32C of the bytes. What the bytes are is the
 * owner's: lines of text mostly.
 *
 * Sync: when a call has returned 0, its change survives the end of the machine. A new file is
 * synced before it gets its name, a record when it is written. Then the folder is synced.
 * A kind that ends with the boot is never synced: a kill of the process takes nothing from it.
 * Failure: the file is the old one or the new one, never a mix. If a record could not be added, a
 * part of it may be at the end; a reader drops that.
 *
 * The calls do file I/O and so block. Nothing here is shared: one owner at a time has a file.
 */
#ifndef COMMON_STORE_STORE_H
#define COMMON_STORE_STORE_H

#include "common/base/buf.h"
#include "common/store/disk.h"

#include <stdbool.h>

struct store_kind {
	const char *what; /* in the file and in messages: a word of up to 20 bytes */
	unsigned version;
	size_t max_bytes; /* of what is written, and of records with their heads */
	bool ends_with_boot; /* invalid after the machine was off */
	/* The owner continues without a file that is invalid, which is renamed to *.bad. */
	bool is_expendable;
};

/* One file. The caller initialises it with STORE_INIT. */
struct store {
	const struct store_kind *kind;
	const struct disk *disk; /* borrowed; NULL: the system's */
	const char *path; /* borrowed */
	size_t bytes; /* of the file */
	size_t damaged; /* bytes that store_read() left out, of records that are invalid */
	bool is_whole; /* a record can be added; else the file must be written whole first */
};

#define STORE_INIT(of_kind, on_disk, at_path) \
	((struct store){ .kind = (of_kind), .disk = (on_disk), .path = (at_path) })

/*
 * Sets *out to the contents and the added records; free it by buf_done(). ERR_NOTFOUND: there is no
 * file. ERR_PARSE: not of that kind and version, damaged or too large, with the byte. ERR_DENIED:
 * not private. ERR_SYS, ERR_NOMEM. A damaged record is skipped: s->damaged.
 */
int store_read(struct store *s, struct buf *out, struct err *e);

/*
 * Reads a file of lines and calls fn for each, without its end; fn may change it. A missing file
 * has none. An error of fn ends it, with the number of the line in front of its text. Otherwise as
 * store_read().
 */
int store_read_lines(struct store *s, int (*fn)(void *arg, char *line, struct err *e), void *arg,
		     struct err *e);

/*
 * Writes all or nothing, and drops all records. ERR_LIMIT, ERR_SYS; ERR_NOMEM also for a failed
 * buffer.
 */
int store_write(struct store *s, const struct buf *body, struct err *e);

/*
 * Adds a record after store_read() or store_write(). ERR_LIMIT: no room, or not whole. ERR_SYS,
 * ERR_NOMEM.
 */
int store_add(struct store *s, const void *p, size_t n, struct err *e);

/* A missing file is no error. ERR_SYS. */
int store_remove(struct store *s, struct err *e);

#endif
