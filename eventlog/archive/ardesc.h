/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptions of event types that a loader has met: their numbers in the archive, and the
 * columns of their values. For the room itself.
 */
#ifndef EVENTLOG_ARCHIVE_ARDESC_H
#define EVENTLOG_ARCHIVE_ARDESC_H

#include "eventlog/archive/arcat.h"
#include "eventlog/text/evtypes.h"

#define ARDESCS_CACHE 64 /* types of a program that alternate */

struct ardesc {
	int64_t d;
	struct artype *t; /* NULL: no room, left out */
	struct evtype *like; /* owned */
	struct arfield *field[]; /* like->nfield; NULL: no room */
};

struct ardescs {
	struct arcat *cat;
	const struct arsql *sql;
	int64_t last; /* the highest number that is given */
	struct evtypes known;
	struct ardesc **desc; /* by number - 1; owned */
	size_t n, bytes;
	struct ardesc *cache[ARDESCS_CACHE];
};

void ardescs_init(struct ardescs *ds, struct arcat *cat, const struct arsql *sql);

/* Forgets what is in memory; it may be used again. */
void ardescs_clear(struct ardescs *ds);

/* Reads which numbers are given. */
int ardescs_load(struct ardescs *ds, struct err *e);

/* The one of this type, with columns for its fields; adds it to the archive. Within a transaction.
 * Valid until the next call. */
int ardescs_find(struct ardescs *ds, const struct evtype *t, struct ardesc **out, struct err *e);

#endif
