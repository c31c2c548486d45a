/* SPDX-License-Identifier: Apache-2.0 */
/* Which events of a stream the archive has: ranges of their numbers, in order, apart. For the room
 * itself. */
#ifndef EVENTLOG_ARCHIVE_ARLOADED_H
#define EVENTLOG_ARCHIVE_ARLOADED_H

#include "eventlog/archive/arsql.h"

struct arrange {
	int64_t first, next; /* of numbers, next not in it */
};

struct arloaded {
	struct arrange *range; /* owned */
	size_t n, cap;
	size_t at; /* where the last one was put */
	int64_t old_from, old_to; /* ranges that begin here are not as stored; from > to: none */
};

#define ARLOADED_RANGES_MAX (1u << 24) /* every other event of 30 million is lost */

void arloaded_init(struct arloaded *l);
void arloaded_done(struct arloaded *l);

/* 1: it was not there and is now. 0: it was there. ERR_LIMIT, ERR_NOMEM. */
int arloaded_add(struct arloaded *l, int64_t number, struct err *e);

bool arloaded_has(const struct arloaded *l, int64_t number);

int arloaded_load(struct arloaded *l, const struct arsql *s, int64_t sid, struct err *e);
int arloaded_save(struct arloaded *l, const struct arsql *s, int64_t sid, struct err *e);

#endif
