/* SPDX-License-Identifier: Apache-2.0 */
/* Events that an archive says to have, compared with those that it has: a text's stream is only a
 * guess. For the room itself. */
#ifndef EVENTLOG_ARCHIVE_ARSAME_H
#define EVENTLOG_ARCHIVE_ARSAME_H

#include "eventlog/archive/arcat.h"
#include "eventlog/evread.h"

#define ARSAME_ROWS 1024 /* compared at once: a question for each type among them */

struct arsame {
	struct arsame_row {
		const struct artype *t;
		int64_t id;
		uint64_t hash; /* of time, columns and values */
	} * row; /* owned; room for ARSAME_ROWS */
	size_t n;
	size_t found; /* that are there just so */
	bool differs; /* one cannot be there: the archive has no such type, or field */
	struct buf text; /* of which a hash is made */
};

void arsame_init(struct arsame *s);
void arsame_done(struct arsame *s);
void arsame_clear(struct arsame *s);

static inline bool arsame_is_full(const struct arsame *s)
{
	return s->n == ARSAME_ROWS || s->differs;
}

/* An event of this id. What the archive had no room for is not compared. ERR_NOMEM. */
int arsame_add(struct arsame *s, const struct arcat *c, int64_t id, const struct event *ev,
	       struct err *e);

/* Whether all of them are there as they came; they are forgotten. All rows that were put must have
 * been written. */
int arsame_ask(struct arsame *s, const struct arsql *sql, bool *is_same, struct err *e);

#endif
