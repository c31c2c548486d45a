/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue: a table for each event type, a column for each of its fields and class of values.
 * It makes the names of tables and columns: e_ or f_, the characters a-z, 0-9, _ of the true name,
 * and a number if that name exists. The true name is stored as a value. Only files of this room
 * include it.
 */
#ifndef EVENTLOG_ARCHIVE_ARCAT_H
#define EVENTLOG_ARCHIVE_ARCAT_H

#include "common/base/limits.h"
#include "common/container/map.h"
#include "eventlog/archive/arsql.h"
#include "eventlog/evtype.h"
#include "stats/moments.h"

/* event types, each with a table; MPI's calls with begin and end are 900 */
#define AR_TYPES_MAX 4000
/* columns of a table: a PostgreSQL row has 8 KB, of which a text takes 18 bytes */
#define AR_COLUMNS_MAX 400
#define AR_COLUMNS_TOTAL 100000 /* columns in memory: 40 MB */

struct arfield {
	char col[AR_NAME_MAX + 1];
	char *name; /* true name; owned */
	enum arclass class;
	enum evkind kind; /* widest kind of the first values */
	unsigned nth; /* index among fields of this name in one event, from 0 */
	unsigned place; /* index in a row, behind id, ts, d */
	unsigned rank; /* index among the columns of its class in this table, from 0 */
	struct moments figures; /* for numbers only */
	/* is_made: the table has the column; is_changed: counts differ from the stored ones */
	bool is_made, is_changed;
};

struct artype {
	char tab[AR_NAME_MAX + 1];
	char *name;
	unsigned number; /* from 1; also the slot of its rows */
	struct arfield **field; /* owned, by `place` */
	size_t nfield, cap, nmade;
	unsigned nclass[AR_NCLASSES]; /* number of columns of each class */
	struct smap by_key, by_col; /* -> struct arfield * */
	uint64_t n;
	int64_t first_ns, last_ns; /* valid if n > 0 */
	/*
	 * is_made: the table exists; is_ready: rows may be put; is_changed: n differs from the
	 * stored one
	 */
	bool is_made, is_ready, is_changed;
};

struct arcat {
	struct artype **type; /* owned; type number is at number - 1 */
	size_t n, cap, nfield;
	struct smap by_name, by_tab;
	bool *is_part_old; /* by part: its view must be written */
	size_t npart;
};

void arcat_init(struct arcat *c);
void arcat_done(struct arcat *c);

/*
 * Loads the catalogue of the archive, within a transaction or view. Fails with ERR_INVALID if this
 * program has not written it.
 */
int arcat_load(struct arcat *c, const struct arsql *s, struct err *e);

struct artype *arcat_find(const struct arcat *c, const char *name);

/*
 * Returns the column of the nth field of this name, for values of this class. Returns NULL if there
 * is none.
 */
const struct arfield *arcat_column(const struct artype *t, const char *name, unsigned nth,
				   enum arclass class);

/* Finds or adds a type. Fails with ERR_LIMIT without room for another one. */
int arcat_type(struct arcat *c, const struct arsql *s, const char *name, struct artype **out,
	       struct err *e);
/*
 * Finds or adds a field with the name, index, class and kind of `like`. Sets *out to NULL without
 * room for another one.
 */
int arcat_field(struct arcat *c, struct artype *t, const struct arfield *like, struct arfield **out,
		struct err *e);

/* Makes the table and columns, so that rows may be put into slot t->number. */
int arcat_ready(struct arcat *c, const struct arsql *s, struct artype *t, struct err *e);

/* Writes changed counts and views. Within a transaction. */
int arcat_save(struct arcat *c, const struct arsql *s, struct err *e);

/* --- arviews.c: the views event, ident, value and row over all tables */
#define AR_PART_TYPES 100 /* SQLite permits 500 terms */
int arviews_write(const struct arcat *c, const struct arsql *s, size_t part, struct err *e);
int arviews_join(const struct arcat *c, const struct arsql *s, struct err *e);

/* --- arschema.c */
/*
 * Fails with ERR_INVALID if this is not an archive, and with ERR_UNSUPPORTED for another version.
 * AR_WRITE makes an empty archive.
 */
int arschema_check(const struct arsql *s, enum armode mode, struct err *e);

#endif
