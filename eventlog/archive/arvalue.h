/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of event values to SQL. Only files of this room include it. */
#ifndef EVENTLOG_ARCHIVE_ARVALUE_H
#define EVENTLOG_ARCHIVE_ARVALUE_H

#include "eventlog/archive/arsql.h"
#include "eventlog/evtype.h"
#include "eventlog/archive/arcat.h"

/*
 * Converts a value: a NaN becomes text, and bytes that are not text remain bytes. Borrows from v.
 */
struct arvalue arvalue_of(const struct evvalue *v);

/* Returns the usual class of a column for values of this kind. */
enum arclass arvalue_class(enum evkind kind);

/*
 * Writes the constants of a type as text for users and views: one statement for each, with `of`,
 * index, name, value.
 */
int arvalue_constants(const struct arsql *s, const char *sql, int64_t of, const struct evtype *t,
		      struct err *e);

/* Returns the number of fields of the same name before field i. */
unsigned arvalue_nth(const struct evtype *t, unsigned i);
/* Returns field i, with values of this class, for arcat_field(). The type owns the name. */
struct arfield arvalue_field(const struct evtype *t, unsigned i, enum arclass class);

#endif
