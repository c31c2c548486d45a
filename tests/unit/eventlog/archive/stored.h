/* SPDX-License-Identifier: Apache-2.0 */
/* An archive in a folder of the test's own, and short words for putting events in and asking. */
#ifndef TESTS_UNIT_EVENTLOG_ARCHIVE_STORED_H
#define TESTS_UNIT_EVENTLOG_ARCHIVE_STORED_H

#include "eventlog/archive/arevents.h"
#include "tests/suite.h"

/* From now on archives are in the database of this PostgreSQL server, not in a file. */
void stored_in(const char *url);

/* Place of this test's archive; the archive that was there is removed. */
const char *stored_new(void);
const char *stored_path(void);
void stored_remove(void);

/* Fails the test when it cannot be opened. */
struct archive *stored_open(enum armode mode);

/* Stream, place in it, and time; 0: a microsecond after the previous event. */
struct stored_at {
	uint64_t stream, number;
	int64_t ts;
};

int stored_put(struct archive *a, struct stored_at at, const char *type, const char *field,
	       struct evvalue v);

#define I32(v) ((struct evvalue){ .kind = EV_INT32, .i32 = (v) })
#define F64(v) ((struct evvalue){ .kind = EV_DOUBLE, .f64 = (v) })
#define STR(v, len) ((struct evvalue){ .kind = EV_STRING, .n = (len), .s = (v) })

/* The number that an SQL statement answers with; INT64_MIN: none. */
int64_t stored_number(const struct archive *a, const char *sql);

/* arevents_read(), which must not fail. */
struct arevents_report stored_read(const struct archive *a, const struct arevents_options *w,
				   arevents_fn fn, void *arg);

/* Commits and closes. */
void stored_close(struct archive *a);

#endif
