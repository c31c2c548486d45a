/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of event values to SQL. For the room itself. */
#ifndef EVENTLOG_ARCHIVE_ARVALUE_H
#define EVENTLOG_ARCHIVE_ARVALUE_H

#include "eventlog/archive/arsql.h"
#include "eventlog/evtype.h"
#include "eventlog/archive/arcat.h"

/* A NaN becomes text; bytes that are no text stay bytes. Borrows from v. */
struct arvalue arvalue_of(const struct evvalue *v);

/* Returns the class of the column that values of this kind usually have. */
enum arclass arvalue_class(enum evkind kind);

/*
 * Writes the constants of a type as text for people and views: one statement each, with `of`,
 * index, name, value.
 */
int arvalue_constants(const struct arsql *s, const char *sql, int64_t of, const struct evtype *t,
		      struct err *e);

/* Returns how many fields of this name precede it. */
unsigned arvalue_nth(const struct evtype *t, unsigned i);
/* Returns that field, with values of this class, for arcat_field(). The type owns the name. */
struct arfield arvalue_field(const struct evtype *t, unsigned i, enum arclass class);

#endif
