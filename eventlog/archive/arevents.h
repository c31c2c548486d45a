/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of an archive as they were loaded, of all types, by time. docs/archive.md lists what
 * is lost.
 */
#ifndef EVENTLOG_ARCHIVE_AREVENTS_H
#define EVENTLOG_ARCHIVE_AREVENTS_H

#include "eventlog/archive/archive.h"

/* Columns times tables of one statement: SQLite needs 1 KB for each of them, and has 256 MB. */
#define AREVENTS_CELLS_MAX 200000

struct arevents_options {
	nsec_t from, to; /* events from .. to; INT64_MIN, INT64_MAX: all */
	/* types of events that must exist, whether or not they have events */
	const char *const *name;
	unsigned nname;
};

struct arevents_report {
	uint64_t events; /* passed on */
	uint64_t bad; /* rows that are no events of their type: no loader writes such */
	uint64_t missing; /* values for which the archive had no room */
};

/* Any value but 0 ends the read and is returned. */
typedef int (*arevents_fn)(void *arg, const struct event *ev);

struct arevents_taker {
	arevents_fn fn;
	void *arg;
};

/*
 * Events of the same time are ordered by stream and number. w may be NULL: all. The database sorts,
 * with files of its own if there are many; the caller holds descriptions and one event. Events
 * loaded meanwhile may be missing. ERR_NOTFOUND: no event of a name. ERR_LIMIT: too many types at
 * once, or descriptions. ERR_INVALID, ERR_NOMEM, ERR_SYS.
 */
int arevents_read(const struct archive *a, const struct arevents_options *w,
		  const struct arevents_taker *to, struct arevents_report *out, struct err *e);

#endif
