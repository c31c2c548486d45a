/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event logs in SQL: a file of SQLite, or a database of PostgreSQL (where: "postgresql://...", else
 * a path). docs/archive.md says what the tables mean. These calls do I/O and so may block.
 */
#ifndef EVENTLOG_ARCHIVE_ARCHIVE_H
#define EVENTLOG_ARCHIVE_ARCHIVE_H

#include "eventlog/archive/arcat.h"
#include "eventlog/evread.h"

/* of a transaction: a sync of 4 ms each is 2 % of what it takes then */
#define ARCHIVE_BATCH_EVENTS 50000
#define ARCHIVE_BATCH_BYTES (8u << 20) /* of strings in it */
/* a batch is not older: a kill loses no more than that */
#define ARCHIVE_BATCH_NS (2 * NSEC_PER_SEC)
#define ARCHIVE_NUMBER_BITS 40 /* an event is sid << 40 | number */

struct archive;

struct archive_report {
	uint64_t seen, stored, known; /* events: passed on; put in; that it had */
	uint64_t safe; /* of the stored ones: no crash takes them away */
	uint64_t batches;
	uint64_t left_out; /* events of types, fields of events that it had no room for */
	uint64_t fields_left_out;
	uint64_t unnumbered; /* events whose number, or stream, is more than an archive can have */
};

/*
 * Writing makes it when it is not there. ERR_DENIED, ERR_NOTFOUND, ERR_INVALID (something else),
 * ERR_AGAIN (locked), ERR_UNSUPPORTED (made without PostgreSQL, or of a later version), ERR_SYS,
 * ERR_NOMEM.
 */
int archive_open(const char *where, enum armode mode, nsec_t time_ns, struct archive **out,
		 struct err *e);

/* Events of a batch, instead of ARCHIVE_BATCH_EVENTS. */
void archive_set_batch(struct archive *a, uint64_t events);

/* What is not committed is forgotten. */
void archive_close(struct archive *a);

/*
 * Stores an event unless it is there already. 1: a batch became safe. After a failure the archive
 * has what was safe, and can only be closed.
 */
int archive_put(struct archive *a, const struct event *ev, struct err *e);

/*
 * What comes now is a text, whose stream is only guessed (true), or is not (false). From then on
 * events that are there already are compared with those that come. archive_put() and
 * archive_commit() fail with ERR_EXISTS when one differs. Then nothing new of this text is stored,
 * and the archive remains usable.
 */
void archive_compare(struct archive *a, bool is_wanted);

/* All that was put is safe. */
int archive_commit(struct archive *a, struct err *e);

/* The same, and what `also` writes is in the transaction. */
typedef int (*archive_also_fn)(void *arg, const struct arsql *s, struct err *e);
int archive_commit_with(struct archive *a, archive_also_fn also, void *arg, struct err *e);

const struct archive_report *archive_report(const struct archive *a);

/* --- reading, for the room */
const struct arsql *archive_sql(const struct archive *a);
const struct arcat *archive_cat(const struct archive *a);

#endif
