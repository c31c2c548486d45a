/* SPDX-License-Identifier: Apache-2.0 */
/* What the values of events are in SQL. For the room itself. */
#ifndef EVENTLOG_ARCHIVE_ARVALUE_H
#define EVENTLOG_ARCHIVE_ARVALUE_H

#include "eventlog/archive/arsql.h"
#include "eventlog/evtype.h"
#include "eventlog/archive/arcat.h"

/* A NaN is a text; bytes that are no text are bytes. Borrows from v. */
struct arvalue arvalue_of(const struct evvalue *v);

/* The class of the column that values of this kind usually have. */
enum arclass arvalue_class(enum evkind kind);

/* The constants of a type as text that people and views read: one statement each, with `of`, place,
 * name, value. */
int arvalue_constants(const struct arsql *s, const char *sql, int64_t of, const struct evtype *t,
		      struct err *e);

/* How many fields of this name stand before it. */
unsigned arvalue_nth(const struct evtype *t, unsigned i);
/* That field, with values of this class, for arcat_field(). The name is of the type. */
struct arfield arvalue_field(const struct evtype *t, unsigned i, enum arclass class);

#endif
