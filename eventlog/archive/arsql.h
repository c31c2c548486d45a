/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database of either kind. Values are never a part of SQL text: they are $1, $2, ..., each once
 * and in this order. Names in SQL text are from arcat.h, with only a-z, 0-9 and _. Only files of
 * this room include it.
 */
#ifndef EVENTLOG_ARCHIVE_ARSQL_H
#define EVENTLOG_ARCHIVE_ARSQL_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Type of a column. A field has a column for each class of its values. */
enum arclass { AR_NULL, AR_INT, AR_REAL, AR_TEXT, AR_BYTES, AR_NCLASSES };

struct arvalue {
	enum arclass class;
	size_t n; /* bytes of s */
	union {
		int64_t i;
		double r; /* never NaN */
		const char *s; /* borrowed; AR_TEXT: UTF-8 without 0 */
	};
};

#define AR_I(v) ((struct arvalue){ .class = AR_INT, .i = (v) })
#define AR_R(v) ((struct arvalue){ .class = AR_REAL, .r = (v) })
#define AR_S(p, len) ((struct arvalue){ .class = AR_TEXT, .n = (len), .s = (p) })
#define AR_B(p, len) ((struct arvalue){ .class = AR_BYTES, .n = (len), .s = (const char *)(p) })

/*
 * Gets one row of a result; the names are valid during the call. A result other than 0 ends the
 * query, and is returned.
 */
typedef int (*arsql_row_fn)(void *arg, const struct arvalue *v, const char *const *names,
			    unsigned n, struct err *e);

/* One statement, and the values of its $1, $2, ... */
struct arsql_statement {
	const char *text;
	const struct arvalue *v;
	unsigned n;
};

struct arsql_ops {
	const char *schema; /* prefix of the names of new objects */
	const char *key, *bytes; /* types of a 64-bit primary key, and of a column of bytes */
	const char *hex[2]; /* text around an expression of bytes that makes it hexadecimal */
	bool has_views_replaced; /* it has CREATE OR REPLACE VIEW */
	const char *stamp; /* marks an empty database as an archive of Omig; NULL = no statement is
			    * needed */
	/* Checks for an archive or an empty database. Fails with ERR_INVALID for anything else. */
	int (*look)(void *db, bool *is_empty, struct err *e);
	/*
	 * Begins a transaction that excludes all other writers. Blocks until then, or fails with
	 * ERR_AGAIN.
	 */
	int (*begin)(void *db, struct err *e);
	int (*commit)(void *db, struct err *e);
	/* Begins a transaction whose reads see one state of all tables. rollback() ends it. */
	int (*view)(void *db, struct err *e);
	void (*rollback)(void *db);
	/* fn may be NULL. */
	int (*run)(void *db, const struct arsql_statement *st, arsql_row_fn fn, void *arg,
		   struct err *e);
	/* Rows of `slot` go into these columns ("a, b, c") of this table from now on. */
	int (*into)(void *db, unsigned slot, const char *table, const char *columns, struct err *e);
	/* Puts one row of n values. It may be written later, by into() or commit(). */
	int (*put)(void *db, unsigned slot, const struct arvalue *v, unsigned n, struct err *e);
	void (*close)(void *db);
};

struct arsql {
	const struct arsql_ops *ops;
	void *db;
};

enum armode { AR_READ, AR_WRITE };

/* Open for reading, so that nothing can be changed. time_ns: limit for a statement; 0 = none. */
int arlite_open(const char *path, enum armode mode, nsec_t time_ns, struct arsql *out,
		struct err *e);
int arpg_open(const char *url, enum armode mode, nsec_t time_ns, struct arsql *out, struct err *e);
bool arpg_is_url(const char *where);
void arsql_close(struct arsql *s);

/*
 * Run a statement without or with values. arsql_number() and arsql_number_of() store the single
 * number of the result, and leave *out unchanged if there is none.
 */
int arsql_do(const struct arsql *s, const char *sql, struct err *e);
int arsql_run(const struct arsql *s, const char *sql, const struct arvalue *v, unsigned n,
	      struct err *e);
int arsql_number(const struct arsql *s, const char *sql, int64_t *out, struct err *e);
int arsql_number_of(const struct arsql *s, const struct arsql_statement *st, int64_t *out,
		    struct err *e);

#define AR_COUNTS_MAX (INT64_C(1) << 62) /* largest number of descriptions and batches */

/*
 * Reads a number, or 0 if there is none. Fails with ERR_INVALID unless 0 <= number < end, because
 * the database may be damaged or forged.
 */
int arsql_count(const struct arsql *s, const char *sql, int64_t end, int64_t *out, struct err *e);

/* Returns bytes as readable text, unchanged or escaped in scratch, which has 4 * n + 1 bytes. */
struct arvalue arsql_shown(const char *s, size_t n, char *scratch, size_t size);

/*
 * True for a name of a-z, 0-9 and _ that begins with a letter and has at most AR_NAME_MAX
 * characters: safe in SQL text.
 */
#define AR_NAME_MAX 60 /* PostgreSQL cuts names at 63 */
bool arsql_is_name(const char *s, size_t n);

#endif
