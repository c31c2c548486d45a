/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares new events with those of the archive, because the stream of a text is only a guess. Only
 * files of this room include it.
 */
#ifndef EVENTLOG_ARCHIVE_ARSAME_H
#define EVENTLOG_ARCHIVE_ARSAME_H

#include "eventlog/archive/arcat.h"
#include "eventlog/evread.h"

#define ARSAME_ROWS 1024 /* rows that are compared at once, by a query for each of their types */

struct arsame {
	struct arsame_row {
		const struct artype *t;
		int64_t id;
		uint64_t hash; /* hash of time, columns and values */
	} * row; /* owned; ARSAME_ROWS entries */
	size_t n;
	size_t found; /* number of exact matches */
	bool differs; /* no match is possible: the archive lacks the type or field */
	struct buf text; /* input of a hash */
};

void arsame_init(struct arsame *s);
void arsame_done(struct arsame *s);
void arsame_clear(struct arsame *s);

static inline bool arsame_is_full(const struct arsame *s)
{
	return s->n == ARSAME_ROWS || s->differs;
}

/*
 * Adds an event with this id. Events without room in the archive are not compared. Fails with
 * ERR_NOMEM.
 */
int arsame_add(struct arsame *s, const struct arcat *c, int64_t id, const struct event *ev,
	       struct err *e);

/*
 * Sets *is_same if all added events are equal to the stored ones, and drops them. All rows must
 * have been written.
 */
int arsame_ask(struct arsame *s, const struct arsql *sql, bool *is_same, struct err *e);

#endif
