/* SPDX-License-Identifier: Apache-2.0 */
/* The events of an archive as they were loaded, whatever their type, by their times.
 * docs/archive.md says what does not come back. */
#ifndef EVENTLOG_ARCHIVE_AREVENTS_H
#define EVENTLOG_ARCHIVE_AREVENTS_H

#include "eventlog/archive/archive.h"

/* Columns times tables that one statement may have: SQLite takes 1 KB for each of them, and has 256
 * MB. */
#define AREVENTS_CELLS_MAX 200000

struct arevents_options {
	nsec_t from, to; /* events from then on, up to then; INT64_MIN, INT64_MAX: all */
	/* types of events that must be there, of which or not events come */
	const char *const *name;
	unsigned nname;
};

struct arevents_report {
	uint64_t events; /* passed on */
	uint64_t bad; /* rows that are no events of their type: no loader writes such */
	uint64_t missing; /* values for which the archive had no room */
};

/* Not 0 ends it and is returned. */
typedef int (*arevents_fn)(void *arg, const struct event *ev);

struct arevents_taker {
	arevents_fn fn;
	void *arg;
};

/*
 * Events of the same time come by stream and number. w may be NULL: all. The database sorts, with
 * files of its own when there are many; here are descriptions and one event. What is loaded
 * meanwhile need not come. ERR_NOTFOUND: no event of a name. ERR_LIMIT: too many types at once, or
 * descriptions. ERR_INVALID, ERR_NOMEM, ERR_SYS.
 */
int arevents_read(const struct archive *a, const struct arevents_options *w,
		  const struct arevents_taker *to, struct arevents_report *out, struct err *e);

#endif
