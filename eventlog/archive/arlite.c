/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite. The file may be hostile: its contents never cause the use of triggers, functions of
 * extensions or other files. Committed means synced.
 */
#include "eventlog/archive/arsql.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/str.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>
#include <string.h>

#define BUSY_MS 10000 /* another loader's batch takes tens of ms */
#define HEAP_BYTES (INT64_C(256) << 20) /* memory for a query that sorts a foreign archive */
#define CACHE_KB "-65536" /* cache for the pages of all tables of a batch, in KB */
/* SQLite's virtual instructions between two readings of the clock: about 1 ms */
#define STEPS 10000
#define SLOTS_MAX 65536
#define COLUMNS_MAX 2000 /* SQLite's limit */

struct db {
	sqlite3 *lite;
	sqlite3_stmt **slot; /* prepared inserts; owned */
	size_t nslot;
	nsec_t time_ns, deadline;
	bool is_reader;
	bool is_unlocked; /* opened without locks: the file must not change from then on */
	struct stat at_open;
};

/* --- texts of errors */

static int fail(const struct db *d, struct err *e)
{
	int rc = sqlite3_errcode(d->lite), sys = sqlite3_system_errno(d->lite);

	switch (rc & 0xff) {
	case SQLITE_FULL:
		return err_set(e, ERR_SYS,
			       "no space is left for the archive; events loaded before remain");
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(e, ERR_AGAIN, "another program has the archive locked (waited %d s)",
			       BUSY_MS / 1000);
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return err_set(e, ERR_DENIED, "the archive, or its folder, is read-only");
	case SQLITE_NOTADB:
		return err_set(e, ERR_INVALID, "is not an archive");
	case SQLITE_CORRUPT:
		return err_set(e, ERR_INVALID, "the archive is damaged (%s)",
			       sqlite3_errmsg(d->lite));
	case SQLITE_CANTOPEN:
		return err_set(e,
			       sys == EACCES   ? ERR_DENIED
			       : sys == ENOENT ? ERR_NOTFOUND
					       : ERR_SYS,
			       "cannot be opened: %s",
			       sys ? strerror(sys) : sqlite3_errmsg(d->lite));
	case SQLITE_NOMEM:
		return err_nomem(e);
	case SQLITE_INTERRUPT:
		return err_set(e, ERR_TIMEOUT, "the query took too long");
	case SQLITE_AUTH:
		return err_set(e, ERR_DENIED, "a query may only read");
	case SQLITE_IOERR:
		return err_set(e, ERR_SYS, "reading or writing the archive: %s",
			       sys ? strerror(sys) : sqlite3_errmsg(d->lite));
	default:
		return err_set(e, ERR_INVALID, "SQL: %s", sqlite3_errmsg(d->lite));
	}
}

static int is_late(void *arg)
{
	struct db *d = arg;

	return d->deadline && clock_mono() > d->deadline;
}

/* --- statements */

static int bind_one(sqlite3_stmt *st, int i, const struct arvalue *v)
{
	switch (v->class) {
	case AR_INT:
		return sqlite3_bind_int64(st, i, v->i);
	case AR_REAL:
		return sqlite3_bind_double(st, i, v->r);
	case AR_TEXT:
		return sqlite3_bind_text64(st, i, v->s, v->n, SQLITE_STATIC, SQLITE_UTF8);
	case AR_BYTES:
		return sqlite3_bind_blob64(st, i, v->s, v->n, SQLITE_STATIC);
	default:
		return sqlite3_bind_null(st, i);
	}
}

static int bind_all(const struct db *d, sqlite3_stmt *st, const struct arvalue *v, unsigned n,
		    struct err *e)
{
	for (unsigned i = 0; i < n; i++)
		if (bind_one(st, (int)i + 1, &v[i]) != SQLITE_OK)
			return fail(d, e);
	return 0;
}

static struct arvalue column(sqlite3_stmt *st, int i)
{
	switch (sqlite3_column_type(st, i)) {
	case SQLITE_INTEGER:
		return AR_I(sqlite3_column_int64(st, i));
	case SQLITE_FLOAT:
		return AR_R(sqlite3_column_double(st, i));
	case SQLITE_TEXT: {
		const char *s = (const char *)sqlite3_column_text(st, i);

		return AR_S(s, (size_t)sqlite3_column_bytes(st, i));
	}
	case SQLITE_BLOB: {
		const void *p = sqlite3_column_blob(st, i);

		return AR_B(p, (size_t)sqlite3_column_bytes(st, i));
	}
	default:
		return (struct arvalue){ 0 };
	}
}

static int hand_on(sqlite3_stmt *st, arsql_row_fn fn, void *arg, struct err *e)
{
	struct arvalue v[COLUMNS_MAX];
	const char *names[COLUMNS_MAX];
	int n = sqlite3_column_count(st);

	if (!fn)
		return 0;
	for (int i = 0; i < n && i < COLUMNS_MAX; i++) {
		v[i] = column(st, i);
		names[i] = sqlite3_column_name(st, i);
	}
	return fn(arg, v, names, (unsigned)n, e);
}

/*
 * Detects a writer: it has a -wal file from its first commit on, and its checkpoints change the
 * time of the archive.
 */
static int check_unchanged(const struct db *d, struct err *e)
{
	const char *path = sqlite3_db_filename(d->lite, "main");
	char wal[FILE_PATH_BYTES];
	struct stat st;

	if (snprintf(wal, sizeof(wal), "%s-wal", path) < (int)sizeof(wal) && access(wal, F_OK) &&
	    !stat(path, &st) && st.st_ino == d->at_open.st_ino &&
	    st.st_size == d->at_open.st_size && st.st_mtim.tv_sec == d->at_open.st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == d->at_open.st_mtim.tv_nsec)
		return 0;
	return err_set(
		e, ERR_AGAIN,
		"the archive was written while it was read without locks (its folder is read-only); try again");
}

static int step_all(struct db *d, sqlite3_stmt *st, arsql_row_fn fn, void *arg, struct err *e)
{
	int got, rc = 0;

	d->deadline = d->time_ns ? clock_mono() + d->time_ns : 0;
	while (!rc && (got = sqlite3_step(st)) != SQLITE_DONE)
		rc = got == SQLITE_ROW ? hand_on(st, fn, arg, e) : fail(d, e);
	d->deadline = 0;
	return !rc && d->is_unlocked ? check_unchanged(d, e) : rc;
}

static int lite_run(void *db, const struct arsql_statement *st, arsql_row_fn fn, void *arg,
		    struct err *e)
{
	struct db *d = db;
	sqlite3_stmt *made = NULL;
	const char *tail;
	int rc;

	if (sqlite3_prepare_v2(d->lite, st->text, -1, &made, &tail) != SQLITE_OK)
		return fail(d, e);
	while (*tail == ' ' || *tail == '\n' || *tail == '\t' || *tail == ';')
		tail++;
	if (*tail || !made)
		rc = err_set(e, ERR_INVALID, "give one SQL statement");
	else
		rc = bind_all(d, made, st->v, st->n, e);
	rc = rc ? rc : step_all(d, made, fn, arg, e);
	sqlite3_finalize(made);
	return rc;
}

static int lite_begin(void *db, struct err *e)
{
	return lite_run(db, &(struct arsql_statement){ .text = "BEGIN IMMEDIATE" }, NULL, NULL, e);
}

static int lite_commit(void *db, struct err *e)
{
	return lite_run(db, &(struct arsql_statement){ .text = "COMMIT" }, NULL, NULL, e);
}

/* --- rows */

static int lite_into(void *db, unsigned slot, const char *table, const char *columns, struct err *e)
{
	struct db *d = db;
	struct buf sql = BUF_INIT(1 << 20);
	sqlite3_stmt *st = NULL;
	int rc = array_grow(&d->slot, &d->nslot, slot + 1, sizeof(sqlite3_stmt *), SLOTS_MAX);

	if (rc)
		return err_nomem(e);
	buf_printf(&sql, "INSERT INTO %s (%s) VALUES (?", table, columns);
	for (const char *c = strchr(columns, ','); c; c = strchr(c + 1, ','))
		buf_puts(&sql, ",?");
	buf_puts(&sql, ")");
	if (sql.failed)
		rc = err_nomem(e);
	else if (sqlite3_prepare_v3(d->lite, buf_str(&sql), -1, SQLITE_PREPARE_PERSISTENT, &st,
				    NULL) != SQLITE_OK)
		rc = fail(d, e);
	buf_done(&sql);
	if (rc)
		return rc;
	sqlite3_finalize(d->slot[slot]);
	d->slot[slot] = st;
	return 0;
}

static int lite_put(void *db, unsigned slot, const struct arvalue *v, unsigned n, struct err *e)
{
	struct db *d = db;
	sqlite3_stmt *st = d->slot[slot];
	int rc = bind_all(d, st, v, n, e);

	if (!rc && sqlite3_step(st) != SQLITE_DONE)
		rc = fail(d, e);
	sqlite3_reset(st);
	return rc;
}

static void lite_close(void *db)
{
	struct db *d = db;

	for (size_t i = 0; i < d->nslot; i++)
		sqlite3_finalize(d->slot[i]);
	free(d->slot);
	sqlite3_close(d->lite);
	free(d);
}

/* --- kind of the file */

/* six: SQLite calls it.
 *
 * For readers: decides what a query may do. SQL in the file is trusted as little as the user's. */
static int may(void *arg, int action, const char *a, const char *b, const char *c, const char *d)
{
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

/* Runs a statement of the archive's own, such as a begin of a transaction; also for readers. */
static int transact(struct db *d, const char *text, struct err *e)
{
	int rc;

	sqlite3_set_authorizer(d->lite, NULL, NULL);
	rc = lite_run(d, &(struct arsql_statement){ .text = text }, NULL, NULL, e);
	if (d->is_reader)
		sqlite3_set_authorizer(d->lite, may, NULL);
	return rc;
}

static int lite_view(void *db, struct err *e)
{
	return transact(db, "BEGIN DEFERRED", e);
}

static void lite_rollback(void *db)
{
	struct db *d = db;

	if (!sqlite3_get_autocommit(d->lite))
		transact(d, "ROLLBACK", NULL);
}

static const struct arsql_ops lite_ops;

#define STAMP 1332563297 /* "OmAa" */
#define TEXT_(n) #n
#define TEXT(n) TEXT_(n)

/* Lists objects that no loader makes, and that may run code when a row is written or read. */
static const char foreign[] =
	"SELECT count(*) FROM sqlite_master AS m WHERE m.type NOT IN ('table', 'index', 'view') OR m.sql LIKE 'CREATE VIRTUAL%' OR EXISTS "
	" (SELECT 1 FROM pragma_table_xinfo(m.name) AS x WHERE m.type = 'table' AND x.hidden <> 0) "
	/* a view may have an endless number of rows */
	"OR (m.type = 'view' AND lower(m.name) GLOB 'e_*')";

/*
 * Counts tables and other objects, then reads their stamp. In this order, because another loader
 * may make them, with the stamp, in between.
 */
static int count_all(const struct arsql *s, int64_t *n, int64_t *stamp, struct err *e)
{
	int rc = arsql_number(s, "SELECT count(*) FROM sqlite_master", n, e);

	return rc ? rc : arsql_number(s, "PRAGMA application_id", stamp, e);
}

static bool is_blank(int64_t n, int64_t stamp)
{
	return !n && !stamp;
}

static int lite_look(void *db, bool *is_empty, struct err *e)
{
	struct db *d = db;
	struct arsql s = { &lite_ops, db };
	int64_t stamp = 0, n = 0, bad = 0;
	int rc;

	rc = count_all(&s, &n, &stamp, e);
	*is_empty = !rc && is_blank(n, stamp);
	if (rc || *is_empty)
		return rc;
	if (stamp != STAMP)
		return err_set(e, ERR_INVALID, "is a database, but not an archive of Omig");
	rc = arsql_number(&s, foreign, &bad, e);
	if (d->is_reader) /* from now on, SQL of the file and of the user runs */
		sqlite3_set_authorizer(d->lite, may, NULL);
	return rc || !bad
		       ? rc
		       : err_set(e, ERR_INVALID,
				 "is not an archive of Omig: it has triggers, virtual tables, views of events or generated columns");
}

static const struct arsql_ops lite_ops = {
	.schema = "",
	.key = "INTEGER PRIMARY KEY",
	.stamp = "PRAGMA application_id=" TEXT(STAMP),
	.look = lite_look,
	.bytes = "BLOB",
	.hex = { "nullif(hex(", "), '')" }, /* the result is "" for NULL */
	.begin = lite_begin,
	.commit = lite_commit,
	.view = lite_view,
	.rollback = lite_rollback,
	.run = lite_run,
	.into = lite_into,
	.put = lite_put,
	.close = lite_close,
};

/* --- opening */

/* WAL mode is stored in the file, so it is set only after lite_look() has accepted the file. */
static int settle_to_write(struct db *d, struct err *e)
{
	static const char *const to_write[] = { "PRAGMA journal_mode=WAL",
						"PRAGMA synchronous=FULL",
						("PRAGMA cache_size=" CACHE_KB),
						"PRAGMA wal_autocheckpoint=4000" };
	struct arsql s = { &lite_ops, d };
	int64_t stamp = 0, n = 0;
	int rc = count_all(&s, &n, &stamp, e);

	for (size_t i = 0; !rc && (stamp == STAMP || is_blank(n, stamp)) && i < ARRAY_LEN(to_write);
	     i++)
		rc = lite_run(d, &(struct arsql_statement){ .text = to_write[i] }, NULL, NULL, e);
	return rc;
}

static int settle(struct db *d, enum armode mode, struct err *e)
{
	int was;

	sqlite3_extended_result_codes(d->lite, 1);
	sqlite3_busy_timeout(d->lite, BUSY_MS);
	sqlite3_db_config(d->lite, SQLITE_DBCONFIG_DEFENSIVE, 1, &was);
	sqlite3_db_config(d->lite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &was);
	sqlite3_db_config(d->lite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &was);
	sqlite3_limit(d->lite, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_progress_handler(d->lite, STEPS, is_late, d);
	if (mode == AR_READ) {
		sqlite3_hard_heap_limit64(HEAP_BYTES);
		return lite_run(d, &(struct arsql_statement){ .text = "PRAGMA query_only=1" }, NULL,
				NULL, e);
	}
	return settle_to_write(d, e);
}

/* Opens by URI, so that any name is the name of a file, even :memory: and one with a `?`. */
static int open_uri(struct db *d, const char *path, int flags, const char *how, struct err *e)
{
	struct buf uri = BUF_INIT(4 * FILE_PATH_BYTES);
	int rc;

	if (strlen(path) >= FILE_PATH_BYTES)
		return err_set(e, ERR_LIMIT, "the name is too long");
	buf_puts(&uri, path[0] == '/' ? "file:" : "file:./");
	for (const char *s = path; *s; s++)
		if (str_is_name(s, 1) && !strchr("%?#", *s))
			buf_putc(&uri, (uint8_t)*s);
		else
			buf_printf(&uri, "%%%02x", (uint8_t)*s);
	buf_puts(&uri, how);
	rc = uri.failed ? SQLITE_NOMEM
			: sqlite3_open_v2(buf_str(&uri), &d->lite,
					  flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	buf_done(&uri);
	return rc == SQLITE_OK ? 0 : d->lite ? fail(d, e) : err_nomem(e);
}

/*
 * Opens without locks, because SQLite cannot lock in a folder that the reader may not write. The
 * owner of the folder may still write: each answer checks for that.
 */
static int open_unlocked(struct db *d, const char *path, struct err *e)
{
	sqlite3_close(d->lite);
	d->lite = NULL;
	d->is_unlocked = true;
	if (stat(path, &d->at_open))
		return err_sys(e, "cannot be opened");
	return open_uri(d, path, SQLITE_OPEN_READONLY, "?immutable=1", e);
}

/*
 * SQLite would wait endlessly for the writer of a pipe. A pipe created there later is the owner's
 * responsibility.
 */
static int check_kind(const char *path, struct err *e)
{
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "is not an archive: not a regular file");
	return 0;
}

static int open_db(struct db *d, const char *path, enum armode mode, struct err *e)
{
	int flags =
		mode == AR_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	int rc = check_kind(path, e);
	int64_t n = 0;
	struct arsql s = { &lite_ops, d };
	char wal[FILE_PATH_BYTES];

	rc = rc ? rc : open_uri(d, path, flags, "", e);
	rc = rc ? rc : settle(d, mode, e);
	if (rc || mode == AR_WRITE)
		return rc;
	rc = arsql_number(&s, "SELECT count(*) FROM sqlite_master", &n, e);
	if (rc &&
	    (sqlite3_errcode(d->lite) == SQLITE_CANTOPEN ||
	     (sqlite3_errcode(d->lite) & 0xff) == SQLITE_READONLY) &&
	    snprintf(wal, sizeof(wal), "%s-wal", path) < (int)sizeof(wal) && access(wal, F_OK)) {
		rc = open_unlocked(d, path, e);
		rc = rc ? rc : settle(d, mode, e);
		rc = rc ? rc : arsql_number(&s, "SELECT count(*) FROM sqlite_master", &n, e);
	}
	return rc;
}

int arlite_open(const char *path, enum armode mode, nsec_t time_ns, struct arsql *out,
		struct err *e)
{
	struct db *d = calloc(1, sizeof(*d));
	int rc = d ? open_db(d, path, mode, e) : err_nomem(e);

	if (rc) {
		if (d)
			lite_close(d);
		return rc;
	}
	d->is_reader = mode == AR_READ;
	d->time_ns = mode == AR_READ ? time_ns : 0;
	*out = (struct arsql){ &lite_ops, d };
	return 0;
}
