/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event logs in SQL: a file of SQLite, or a database of PostgreSQL. `where` is "postgresql://..."
 * or a path. docs/archive.md describes the tables. These calls do I/O and may block.
 */
#ifndef EVENTLOG_ARCHIVE_ARCHIVE_H
#define EVENTLOG_ARCHIVE_ARCHIVE_H

#include "eventlog/archive/arcat.h"
#include "eventlog/evread.h"

/* events in a transaction: a sync of 4 ms is then 2 % of its time */
#define ARCHIVE_BATCH_EVENTS 50000
#define ARCHIVE_BATCH_BYTES (8u << 20) /* bytes of strings in a transaction */
/* largest age of a transaction, so that a kill loses no more than that */
#define ARCHIVE_BATCH_NS (2 * NSEC_PER_SEC)
#define ARCHIVE_NUMBER_BITS 40 /* the id of an event is sid << 40 | number */

struct archive;

struct archive_report {
	/* events passed to archive_put(), added, and already present */
	uint64_t seen, stored, known;
	uint64_t safe; /* added and committed events */
	uint64_t batches;
	uint64_t left_out; /* types without room, and fields without room */
	uint64_t fields_left_out;
	uint64_t unnumbered; /* events whose number, or stream, exceeds the archive's range */
};

/*
 * Opens an archive; for writing, makes it if it is missing. Fails with ERR_DENIED, ERR_NOTFOUND,
 * ERR_INVALID if it is something else, ERR_AGAIN if it is locked, ERR_SYS, ERR_NOMEM. Fails with
 * ERR_UNSUPPORTED in a build without PostgreSQL, and for a later version.
 */
int archive_open(const char *where, enum armode mode, nsec_t time_ns, struct archive **out,
		 struct err *e);

/* Sets the number of events in a batch, instead of ARCHIVE_BATCH_EVENTS. */
void archive_set_batch(struct archive *a, uint64_t events);

/* Drops uncommitted events. */
void archive_close(struct archive *a);

/*
 * Stores an event unless it exists already. Returns 1 if a batch was committed. After a failure the
 * archive contains the committed events, and can only be closed.
 */
int archive_put(struct archive *a, const struct event *ev, struct err *e);

/*
 * Begins a text. true: its stream is only guessed, so that events which exist already are compared
 * with the new ones. archive_put() and archive_commit() then fail with ERR_EXISTS if one differs.
 * No event of this text is stored in that case, and the archive remains usable.
 */
void archive_compare(struct archive *a, bool is_wanted);

/* Commits all events. */
int archive_commit(struct archive *a, struct err *e);

/* Commits all events, together with the writes of `also`. */
typedef int (*archive_also_fn)(void *arg, const struct arsql *s, struct err *e);
int archive_commit_with(struct archive *a, archive_also_fn also, void *arg, struct err *e);

const struct archive_report *archive_report(const struct archive *a);

/* --- for reading; only files of this room use these */
const struct arsql *archive_sql(const struct archive *a);
const struct arcat *archive_cat(const struct archive *a);

#endif
