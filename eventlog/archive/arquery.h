/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of an archive, in a few kinds of sentences (docs/archive.md lists them) or in SQL. Result
 * columns whose names end in _ns are times or durations. The column stream is a number that is
 * shown in hex.
 */
#ifndef EVENTLOG_ARCHIVE_ARQUERY_H
#define EVENTLOG_ARCHIVE_ARQUERY_H

#include "eventlog/archive/archive.h"

#define ARQUERY_MAX_BYTES 4096 /* limit of a sentence */
#define ARQUERY_WORDS_MAX 64

/*
 * Passes the rows to fn. A query of several types of events may have different columns for each
 * type. Fails with ERR_PARSE for any other sentence, ERR_NOTFOUND for an unknown event or field,
 * ERR_LIMIT, ERR_TIMEOUT.
 */
int arquery_run(const struct archive *a, const char *sentence, arsql_row_fn fn, void *arg,
		struct err *e);

/* Runs one read-only statement unchanged. */
int arquery_sql(const struct archive *a, const char *sql, arsql_row_fn fn, void *arg,
		struct err *e);

/*
 * For this room: passes the duration in ns of each pair of events, one column per row. A pair is an
 * event `start` and the next `end` with the same stream and key.
 */
int arquery_pairs(const struct archive *a, const struct artype *const stage[2], arsql_row_fn fn,
		  void *arg, struct err *e);

#endif
