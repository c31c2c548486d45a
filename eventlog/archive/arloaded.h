/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a stream's events in the archive, as separate ranges in order. Only files of this
 * room include it.
 */
#ifndef EVENTLOG_ARCHIVE_ARLOADED_H
#define EVENTLOG_ARCHIVE_ARLOADED_H

#include "eventlog/archive/arsql.h"

struct arrange {
	int64_t first, next; /* numbers first .. next - 1 */
};

struct arloaded {
	struct arrange *range; /* owned */
	size_t n, cap;
	size_t at; /* index of the last insertion */
	/* ranges that begin here differ from the stored ones; from > to: none differ */
	int64_t old_from, old_to;
};

#define ARLOADED_RANGES_MAX (1u << 24) /* enough if every other event of 30 million is lost */

void arloaded_init(struct arloaded *l);
void arloaded_done(struct arloaded *l);

/* Returns 1 if the number was added, 0 if it existed. Fails with ERR_LIMIT, ERR_NOMEM. */
int arloaded_add(struct arloaded *l, int64_t number, struct err *e);

bool arloaded_has(const struct arloaded *l, int64_t number);

int arloaded_load(struct arloaded *l, const struct arsql *s, int64_t sid, struct err *e);
int arloaded_save(struct arloaded *l, const struct arsql *s, int64_t sid, struct err *e);

#endif
