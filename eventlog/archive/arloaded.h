/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a stream in the archive: ranges of their numbers, in order, separate. For the room
 * itself.
 */
#ifndef EVENTLOG_ARCHIVE_ARLOADED_H
#define EVENTLOG_ARCHIVE_ARLOADED_H

#include "eventlog/archive/arsql.h"

struct arrange {
	int64_t first, next; /* of numbers, next not in it */
};

struct arloaded {
	struct arrange *range; /* owned */
	size_t n, cap;
	size_t at; /* position of the last insertion */
	/* ranges that begin here differ from the stored ones; from > to: none */
	int64_t old_from, old_to;
};

#define ARLOADED_RANGES_MAX (1u << 24) /* if every other event of 30 million is lost */

void arloaded_init(struct arloaded *l);
void arloaded_done(struct arloaded *l);

/* Returns 1: added. 0: it existed. ERR_LIMIT, ERR_NOMEM. */
int arloaded_add(struct arloaded *l, int64_t number, struct err *e);

bool arloaded_has(const struct arloaded *l, int64_t number);

int arloaded_load(struct arloaded *l, const struct arsql *s, int64_t sid, struct err *e);
int arloaded_save(struct arloaded *l, const struct arsql *s, int64_t sid, struct err *e);

#endif
