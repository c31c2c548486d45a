/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue: a table for each event type, a column for each of its fields and class of values.
 * It makes the names of tables and columns: e_ or f_, the characters a-z, 0-9, _ of the true name,
 * and a number if that name exists. The true name is stored as a value. For the room itself.
 */
#ifndef EVENTLOG_ARCHIVE_ARCAT_H
#define EVENTLOG_ARCHIVE_ARCAT_H

#include "common/base/limits.h"
#include "common/container/map.h"
#include "eventlog/archive/arsql.h"
#include "eventlog/evtype.h"
#include "stats/moments.h"

#define AR_TYPES_MAX 4000 /* tables; MPI's calls with begin and end are 900 */
/* of a table: a PostgreSQL row has 8 KB, a text needs 18 bytes of it */
#define AR_COLUMNS_MAX 400
#define AR_COLUMNS_TOTAL 100000 /* in memory: 40 MB */

struct arfield {
	char col[AR_NAME_MAX + 1];
	char *name; /* true; owned */
	enum arclass class;
	enum evkind kind; /* the widest of the first values */
	unsigned nth; /* of this name in one event, from 0 */
	unsigned place; /* in a row, after id, ts, d */
	unsigned rank; /* among the columns of its class in this table, from 0 */
	struct moments figures; /* numbers only */
	/* the table has the column; the counts differ from the stored ones */
	bool is_made, is_changed;
};

struct artype {
	char tab[AR_NAME_MAX + 1];
	char *name;
	unsigned number; /* from 1; the slot of its rows */
	struct arfield **field; /* owned, by place */
	size_t nfield, cap, nmade;
	unsigned nclass[AR_NCLASSES]; /* columns of each class */
	struct smap by_key, by_col; /* -> struct arfield * */
	uint64_t n;
	int64_t first_ns, last_ns; /* when n > 0 */
	/* table; rows may be put; n differs from the stored one */
	bool is_made, is_ready, is_changed;
};

struct arcat {
	struct artype **type; /* owned; number - 1 */
	size_t n, cap, nfield;
	struct smap by_name, by_tab;
	bool *is_part_old; /* views to be written, by part */
	size_t npart;
};

void arcat_init(struct arcat *c);
void arcat_done(struct arcat *c);

/*
 * Loads the catalogue of the archive, within a transaction or view. ERR_INVALID: not written by
 * this program.
 */
int arcat_load(struct arcat *c, const struct arsql *s, struct err *e);

struct artype *arcat_find(const struct arcat *c, const char *name);

/*
 * Returns the column of the nth field of this name, for values of this class. NULL: there is none.
 */
const struct arfield *arcat_column(const struct artype *t, const char *name, unsigned nth,
				   enum arclass class);

/* Finds or adds. ERR_LIMIT: no room for another one. */
int arcat_type(struct arcat *c, const struct arsql *s, const char *name, struct artype **out,
	       struct err *e);
/*
 * Finds or adds a field with the name, index, class and kind of `like`. *out NULL: there is no room
 * for another one.
 */
int arcat_field(struct arcat *c, struct artype *t, const struct arfield *like, struct arfield **out,
		struct err *e);

/* Table and columns are there, and rows may be put into slot t->number. */
int arcat_ready(struct arcat *c, const struct arsql *s, struct artype *t, struct err *e);

/* Writes the counts that have changed, and the views. Within a transaction. */
int arcat_save(struct arcat *c, const struct arsql *s, struct err *e);

/* --- arviews.c: event, ident, value, row over all tables. */
#define AR_PART_TYPES 100 /* SQLite takes 500 terms */
int arviews_write(const struct arcat *c, const struct arsql *s, size_t part, struct err *e);
int arviews_join(const struct arcat *c, const struct arsql *s, struct err *e);

/* --- arschema.c */
/* ERR_INVALID, ERR_UNSUPPORTED: no archive, or of another version. AR_WRITE makes an empty one. */
int arschema_check(const struct arsql *s, enum armode mode, struct err *e);

#endif
