/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to an archive in a few kinds of sentences (docs/archive.md has them), or in SQL.
 * Columns of an answer whose names end in _ns are times or lengths of time. The column stream is a
 * number that people write in hex.
 */
#ifndef EVENTLOG_ARCHIVE_ARQUERY_H
#define EVENTLOG_ARCHIVE_ARQUERY_H

#include "eventlog/archive/archive.h"

#define ARQUERY_MAX_BYTES 4096 /* of a sentence */
#define ARQUERY_WORDS_MAX 64

/*
 * Rows to fn. What is asked of several types of events may come with other columns for each.
 * ERR_PARSE: no sentence. ERR_NOTFOUND: no such event, or field. ERR_LIMIT: of too many types.
 * ERR_TIMEOUT.
 */
int arquery_run(const struct archive *a, const char *sentence, arsql_row_fn fn, void *arg,
		struct err *e);

/* One statement that only reads, as it is. */
int arquery_sql(const struct archive *a, const char *sql, arsql_row_fn fn, void *arg,
		struct err *e);

/*
 * For the room: the length in ns of each pair of events, one column a row. A pair is an event
 * `start` and the `end` that follows it in the same stream. When they have a key, it is the same in
 * both.
 */
int arquery_pairs(const struct archive *a, const struct artype *const stage[2], arsql_row_fn fn,
		  void *arg, struct err *e);

#endif
