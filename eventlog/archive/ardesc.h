/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptions of event types that a loader has met: their numbers in the archive, and the
 * columns of their values. Only files of this room include it.
 */
#ifndef EVENTLOG_ARCHIVE_ARDESC_H
#define EVENTLOG_ARCHIVE_ARDESC_H

#include "eventlog/archive/arcat.h"
#include "eventlog/text/evtypes.h"

#define ARDESCS_CACHE 64 /* descriptions in the cache: types of a program that alternate */

struct ardesc {
	int64_t d;
	struct artype *t; /* NULL: the archive has no room for the type */
	struct evtype *like; /* owned */
	struct arfield *field[]; /* like->nfield entries; NULL: no room for the field */
};

struct ardescs {
	struct arcat *cat;
	const struct arsql *sql;
	int64_t last; /* highest number in use */
	struct evtypes known;
	struct ardesc **desc; /* owned, by number - 1 */
	size_t n, bytes;
	struct ardesc *cache[ARDESCS_CACHE];
};

void ardescs_init(struct ardescs *ds, struct arcat *cat, const struct arsql *sql);

/* Drops the descriptions in memory. *ds may be used again. */
void ardescs_clear(struct ardescs *ds);

/* Reads the highest number in use. */
int ardescs_load(struct ardescs *ds, struct err *e);

/*
 * Returns the description of this type, with columns for its fields. Adds it to the archive if
 * needed, within a transaction. Valid until the next call.
 */
int ardescs_find(struct ardescs *ds, const struct evtype *t, struct ardesc **out, struct err *e);

#endif
