/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of an archive, of all types, by time. docs/archive.md lists what an archive does not
 * preserve.
 */
#ifndef EVENTLOG_ARCHIVE_AREVENTS_H
#define EVENTLOG_ARCHIVE_AREVENTS_H

#include "eventlog/archive/archive.h"

/*
 * Product of columns and tables in one statement: SQLite needs 1 KB for each, and may use 256 MB.
 */
#define AREVENTS_CELLS_MAX 200000

struct arevents_options {
	nsec_t from, to; /* times of the first and last event; INT64_MIN, INT64_MAX: all */
	/* types of events to read; each must exist in the archive */
	const char *const *name;
	unsigned nname;
};

struct arevents_report {
	uint64_t events; /* events passed to the function */
	uint64_t bad; /* rows that do not fit their type, which no loader writes */
	uint64_t missing; /* values for which the archive had no room */
};

/* A result other than 0 ends the read, and is returned. */
typedef int (*arevents_fn)(void *arg, const struct event *ev);

struct arevents_taker {
	arevents_fn fn;
	void *arg;
};

/*
 * Events of the same time are ordered by stream and number. w NULL means all events. The database
 * sorts, in files if there are many events; this process needs memory for descriptions and one
 * event. Events that are loaded meanwhile may be missing. Fails with ERR_NOTFOUND if a name has no
 * event, ERR_LIMIT for too many types or descriptions, ERR_INVALID, ERR_NOMEM, ERR_SYS.
 */
int arevents_read(const struct archive *a, const struct arevents_options *w,
		  const struct arevents_taker *to, struct arevents_report *out, struct err *e);

#endif
