/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small state that outlives its daemon, in one format and with one reader, which checks everything.
 * A file is replaced as a whole, and may grow by records in between:
 *
 *     omig-store WHAT VERSION BYTES CRC\n   and BYTES bytes: the body that was written last
 *     +BYTES CRC\n                          and BYTES bytes: a record, as often as one was added
 *
 * BYTES and CRC have eight hex digits; CRC is the CRC-32C of the bytes. The owner decides on their
 * contents, which are mostly lines of text.
 *
 * Sync: when a call has returned 0, its change survives the end of the machine. A new file is
 * synced before it gets its name, a record when it is written. Then the folder is synced. A kind
 * that ends with the boot is never synced, because a kill of the process loses nothing. Failure:
 * the file is the old one or the new one, never a mix. If a record could not be added, a part of it
 * may be at the end, which a reader drops.
 *
 * The calls do file I/O and block. A file has one owner at a time.
 */
#ifndef COMMON_STORE_STORE_H
#define COMMON_STORE_STORE_H

#include "common/base/buf.h"
#include "common/store/disk.h"

#include <stdbool.h>

struct store_kind {
	/* name of the kind in the file and in messages: a word of up to 20 bytes */
	const char *what;
	unsigned version;
	size_t max_bytes; /* limit of the body, and of records with their heads */
	bool ends_with_boot; /* the file is invalid after a restart of the machine */
	/*
	 * Without an error, an invalid file is renamed to *.bad, and the owner continues without
	 * it.
	 */
	bool is_expendable;
};

/* One file. The caller initialises it with STORE_INIT. */
struct store {
	const struct store_kind *kind;
	const struct disk *disk; /* borrowed; NULL: the system's */
	const char *path; /* borrowed */
	size_t bytes; /* size of the file */
	size_t damaged; /* bytes of invalid records that store_read() has left out */
	bool is_whole; /* a record can be added; otherwise the file must be written first */
};

#define STORE_INIT(of_kind, on_disk, at_path) \
	((struct store){ .kind = (of_kind), .disk = (on_disk), .path = (at_path) })

/*
 * Sets *out to the body and the added records; free it by buf_done(). Fails with ERR_NOTFOUND if
 * there is no file, ERR_DENIED if it is not private, ERR_SYS, ERR_NOMEM. Fails with ERR_PARSE, and
 * the offset, if it is of another kind or version, damaged or too large. A damaged record is
 * skipped: s->damaged.
 */
int store_read(struct store *s, struct buf *out, struct err *e);

/*
 * Reads a file of lines, and calls fn for each line without its end; fn may change it. A missing
 * file has no lines. An error of fn ends the read, with the number of the line in front of its
 * text. Otherwise fails like store_read().
 */
int store_read_lines(struct store *s, int (*fn)(void *arg, char *line, struct err *e), void *arg,
		     struct err *e);

/*
 * Writes all or nothing, and drops all records. Fails with ERR_LIMIT, ERR_SYS, ERR_NOMEM (also for
 * a failed buffer).
 */
int store_write(struct store *s, const struct buf *body, struct err *e);

/*
 * Adds a record after store_read() or store_write(). Fails with ERR_LIMIT without room, or if the
 * file must be written first, and with ERR_SYS, ERR_NOMEM.
 */
int store_add(struct store *s, const void *p, size_t n, struct err *e);

/* A missing file is not an error. Fails with ERR_SYS. */
int store_remove(struct store *s, struct err *e);

#endif
