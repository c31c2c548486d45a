/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event logs in SQL: a file of SQLite, or a database of PostgreSQL (where: "postgresql://...", else
 * a path). docs/archive.md describes the tables. These calls do I/O and so may block.
 */
#ifndef EVENTLOG_ARCHIVE_ARCHIVE_H
#define EVENTLOG_ARCHIVE_ARCHIVE_H

#include "eventlog/archive/arcat.h"
#include "eventlog/evread.h"

/* of a transaction: a sync of 4 ms is then 2 % of its time */
#define ARCHIVE_BATCH_EVENTS 50000
#define ARCHIVE_BATCH_BYTES (8u << 20) /* of strings in it */
/* largest age of a batch: a kill loses no more than that */
#define ARCHIVE_BATCH_NS (2 * NSEC_PER_SEC)
#define ARCHIVE_NUMBER_BITS 40 /* an event is sid << 40 | number */

struct archive;

struct archive_report {
	uint64_t seen, stored, known; /* events: passed on; added; already present */
	uint64_t safe; /* of the stored ones: committed */
	uint64_t batches;
	uint64_t left_out; /* events of types, fields of events that it had no room for */
	uint64_t fields_left_out;
	uint64_t unnumbered; /* events whose number, or stream, exceeds the archive's range */
};

/*
 * Writing makes the archive if it is missing. ERR_DENIED, ERR_NOTFOUND, ERR_INVALID (no archive),
 * ERR_AGAIN (locked), ERR_UNSUPPORTED (built without PostgreSQL, or of a later version), ERR_SYS,
 * ERR_NOMEM.
 */
int archive_open(const char *where, enum armode mode, nsec_t time_ns, struct archive **out,
		 struct err *e);

/* Sets the number of events of a batch, in place of ARCHIVE_BATCH_EVENTS. */
void archive_set_batch(struct archive *a, uint64_t events);

/* Uncommitted events are dropped. */
void archive_close(struct archive *a);

/*
 * Stores an event unless it exists already. Returns 1: a batch was committed. After a failure the
 * archive has the committed events, and can only be closed.
 */
int archive_put(struct archive *a, const struct event *ev, struct err *e);

/*
 * Starts a text, whose stream is only guessed (true), or another stream (false). From then on
 * existing events are compared with the new ones. archive_put() and archive_commit() fail with
 * ERR_EXISTS if one differs. Then no event of this text is stored, and the archive remains usable.
 */
void archive_compare(struct archive *a, bool is_wanted);

/* Commits all events. */
int archive_commit(struct archive *a, struct err *e);

/* The same, with the writes of `also` in the transaction. */
typedef int (*archive_also_fn)(void *arg, const struct arsql *s, struct err *e);
int archive_commit_with(struct archive *a, archive_also_fn also, void *arg, struct err *e);

const struct archive_report *archive_report(const struct archive *a);

/* --- reading, for the room */
const struct arsql *archive_sql(const struct archive *a);
const struct arcat *archive_cat(const struct archive *a);

#endif
