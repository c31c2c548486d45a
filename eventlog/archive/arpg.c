/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostgreSQL: rows by COPY, values as binary parameters, all in a schema of its own. A reader uses
 * a cursor in a read-only transaction. A cursor accepts only a SELECT, even from a superuser.
 */
#include "eventlog/archive/arpq.h"
#include "eventlog/archive/arsql.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/str.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX 65536
#define SLOT_BYTES (1u << 20) /* rows of a table before they are sent */
#define SLOT_MAX_BYTES (64u << 20) /* with the last row */
#define PARAMS_MAX 2048
#define COLUMNS_MAX 1664 /* the server's limit */
#define FETCH "FETCH 1000 FROM c"

enum oid {
	OID_BYTEA = 17,
	OID_INT8 = 20,
	OID_INT2 = 21,
	OID_INT4 = 23,
	OID_TEXT = 25,
	OID_FLOAT4 = 700,
	OID_FLOAT8,
	OID_NUMERIC = 1700
};

struct slot {
	char *copy; /* the statement; owned */
	struct buf rows;
};

struct db {
	struct arpq pq;
	PGconn *c;
	struct slot *slot; /* owned */
	size_t nslot;
	bool is_reader;
	nsec_t time_ns;
};

/* --- texts of errors */

/* Reports the first line of the server's message, without its end. */
static int say(struct err *e, enum err_code code, const char *words)
{
	return err_set(e, code, "%.*s", (int)strcspn(words, "\n"), words);
}

static int fail(const struct db *d, const PGresult *r, struct err *e)
{
	const char *state = r ? d->pq.resultErrorField(r, ARPQ_DIAG_SQLSTATE) : NULL;
	const char *words = d->pq.errorMessage(d->c);

	if (d->pq.status(d->c) != ARPQ_CONNECTION_OK)
		return say(e, ERR_CLOSED, words);
	if (!state)
		return say(e, ERR_SYS, words);
	if (str_eq(state, "53100"))
		return err_set(e, ERR_SYS,
			       "no space is left for the archive; events loaded before remain");
	if (str_eq(state, "55P03"))
		return err_set(e, ERR_AGAIN,
			       "another program has the archive locked (waited 10 s)");
	if (str_eq(state, "57014"))
		return err_set(e, ERR_TIMEOUT, "the query took too long");
	if (str_eq(state, "25006") || str_eq(state, "42501"))
		return say(e, ERR_DENIED, words);
	return say(e, ERR_INVALID, words);
}

static int end_result(const struct db *d, PGresult *r, struct err *e)
{
	unsigned s = d->pq.resultStatus(r);
	int rc = s == ARPQ_COMMAND_OK || s == ARPQ_TUPLES_OK ? 0 : fail(d, r, e);

	d->pq.clear(r);
	return rc;
}

static int simple(struct db *d, const char *sql, struct err *e)
{
	return end_result(d, d->pq.exec(d->c, sql), e);
}

/* --- values of parameters */

static void put_be(uint8_t *out, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		out[i] = (uint8_t)(v >> (8 * (bytes - 1 - i)));
}

static uint64_t bits_of(const struct arvalue *v)
{
	uint64_t bits;

	memcpy(&bits, &v->i, sizeof(bits)); /* i and r have the same address */
	return bits;
}

struct params {
	Oid oid[PARAMS_MAX];
	const char *p[PARAMS_MAX];
	int n[PARAMS_MAX], format[PARAMS_MAX];
	uint8_t number[PARAMS_MAX][8];
};

static int fill_params(struct params *p, const struct arvalue *v, unsigned n, struct err *e)
{
	static const Oid oids[AR_NCLASSES] = { 0, OID_INT8, OID_FLOAT8, OID_TEXT, OID_BYTEA };

	if (n > PARAMS_MAX)
		return err_set(e, ERR_LIMIT, "is too large for one query");
	for (unsigned i = 0; i < n; i++) {
		bool is_number = v[i].class == AR_INT || v[i].class == AR_REAL;

		if (is_number)
			put_be(p->number[i], bits_of(&v[i]), 8);
		p->oid[i] = oids[v[i].class];
		p->p[i] = is_number		  ? (const char *)p->number[i]
			  : v[i].class == AR_NULL ? NULL
			  : v[i].n		  ? v[i].s
						  : "";
		p->n[i] = is_number ? 8 : (int)v[i].n;
		p->format[i] = 1;
	}
	return 0;
}

static PGresult *exec_params(struct db *d, const char *sql, const struct arvalue *v, unsigned n,
			     struct err *e)
{
	struct params *p = malloc(sizeof(*p));
	PGresult *r = NULL;

	if (!p)
		err_nomem(e);
	else if (!fill_params(p, v, n, e))
		r = d->pq.execParams(d->c, sql, (int)n, p->oid, p->p, p->n, p->format, 0);
	free(p);
	return r;
}

/* --- values of results, as text */

/* Decodes hexadecimal bytes in place. */
static struct arvalue bytes_from(char *s, size_t n)
{
	size_t k = n >= 2 ? (n - 2) / 2 : 0;

	for (size_t i = 0; i < k; i++) {
		char two[3] = { s[2 + 2 * i], s[3 + 2 * i], '\0' };
		uint64_t v = 0;

		str_to_hex64(two, &v);
		s[i] = (char)v;
	}
	return AR_B(s, k);
}

static struct arvalue cell(const struct db *d, const PGresult *r, int row, int i)
{
	char *s = d->pq.getvalue(r, row, i);
	size_t n = (size_t)d->pq.getlength(r, row, i);
	int64_t whole;
	double real;

	if (d->pq.getisnull(r, row, i))
		return (struct arvalue){ 0 };
	switch ((int)d->pq.ftype(r, i)) {
	case OID_INT8:
	case OID_INT4:
	case OID_INT2:
		if (!str_to_i64(s, INT64_MIN, INT64_MAX, &whole))
			return AR_I(whole);
		break;
	case OID_FLOAT8:
	case OID_FLOAT4:
	case OID_NUMERIC:
		if (!str_to_double(s, -DBL_MAX, DBL_MAX, &real))
			return AR_R(real);
		if (str_eq(s, "Infinity") || str_eq(s, "-Infinity"))
			return AR_R(*s == '-' ? -(double)INFINITY : (double)INFINITY);
		break;
	case OID_BYTEA:
		return bytes_from(s, n);
	}
	return AR_S(s, n);
}

static int hand_on(const struct db *d, const PGresult *r, arsql_row_fn fn, void *arg, struct err *e)
{
	struct arvalue v[COLUMNS_MAX];
	const char *names[COLUMNS_MAX];
	int n = d->pq.nfields(r) < COLUMNS_MAX ? d->pq.nfields(r) : COLUMNS_MAX, rc = 0;

	for (int i = 0; i < n; i++)
		names[i] = d->pq.fname(r, i);
	for (int row = 0; !rc && fn && row < d->pq.ntuples(r); row++) {
		for (int i = 0; i < n; i++)
			v[i] = cell(d, r, row, i);
		rc = fn(arg, v, names, (unsigned)n, e);
	}
	return rc;
}

/* --- statements */

static int run_at_once(struct db *d, const struct arsql_statement *st, arsql_row_fn fn, void *arg,
		       struct err *e)
{
	struct err mine = { 0 };
	PGresult *r = exec_params(d, st->text, st->v, st->n, &mine);
	unsigned s = d->pq.resultStatus(r);
	int rc;

	if (mine.code) {
		*e = mine;
		return -mine.code;
	}
	rc = s == ARPQ_TUPLES_OK    ? hand_on(d, r, fn, arg, e)
	     : s == ARPQ_COMMAND_OK ? 0
				    : fail(d, r, e);
	d->pq.clear(r);
	return rc;
}

static int fetch_all(struct db *d, arsql_row_fn fn, void *arg, struct err *e)
{
	nsec_t end = d->time_ns ? clock_mono() + d->time_ns : INT64_MAX;
	int rc = 0, rows = 1;

	while (!rc && rows) {
		PGresult *r = d->pq.exec(d->c, FETCH);

		rc = d->pq.resultStatus(r) == ARPQ_TUPLES_OK ? hand_on(d, r, fn, arg, e)
							     : fail(d, r, e);
		rows = d->pq.ntuples(r);
		d->pq.clear(r);
		if (!rc && clock_mono() > end)
			rc = err_set(e, ERR_TIMEOUT, "the query took too long");
	}
	return rc;
}

static int read_by_cursor(struct db *d, const struct arsql_statement *st, arsql_row_fn fn,
			  void *arg, struct err *e)
{
	struct arsql_statement declare = *st;
	struct buf b = BUF_INIT(1u << 21);
	bool is_in_view = d->pq.transactionStatus(d->c) == ARPQ_IN_TRANSACTION;
	int rc = is_in_view ? 0 : simple(d, "BEGIN READ ONLY", e);

	buf_printf(&b, "DECLARE c NO SCROLL CURSOR FOR %s", st->text);
	declare.text = buf_str(&b);
	if (!rc)
		rc = b.failed ? err_nomem(e) : run_at_once(d, &declare, NULL, NULL, e);
	rc = rc ? rc : fetch_all(d, fn, arg, e);
	buf_done(&b);
	d->pq.clear(d->pq.exec(d->c, is_in_view ? "CLOSE c" : "ROLLBACK"));
	return rc;
}

static int pg_run(void *db, const struct arsql_statement *st, arsql_row_fn fn, void *arg,
		  struct err *e)
{
	struct db *d = db;
	struct err mine = { 0 };
	int rc = d->is_reader ? read_by_cursor(d, st, fn, arg, &mine)
			      : run_at_once(d, st, fn, arg, &mine);

	if (rc && e)
		*e = mine;
	return rc;
}

/* --- rows, by COPY */

static int send_rows(struct db *d, const struct buf *rows, struct err *e)
{
	/* followed by 0, the flags and the length of an empty header */
	static const char head[19] = "PGCOPY\n\377\r\n";

	if (d->pq.putCopyData(d->c, head, sizeof(head)) != 1 ||
	    d->pq.putCopyData(d->c, (const char *)rows->p, (int)rows->n) != 1 ||
	    d->pq.putCopyData(d->c, "\377\377", 2) != 1 || d->pq.putCopyEnd(d->c, NULL) != 1)
		return fail(d, NULL, e);
	return end_result(d, d->pq.getResult(d->c), e);
}

static int flush(struct db *d, struct slot *s, struct err *e)
{
	PGresult *r;
	int rc;

	if (!s->rows.n)
		return 0;
	r = d->pq.exec(d->c, s->copy);
	rc = d->pq.resultStatus(r) == ARPQ_COPY_IN ? send_rows(d, &s->rows, e) : fail(d, r, e);
	d->pq.clear(r);
	/* A COPY that cannot be ended would be reported endlessly. */
	while ((r = d->pq.getResult(d->c)) && d->pq.resultStatus(r) != ARPQ_COPY_IN)
		d->pq.clear(r);
	d->pq.clear(r);
	buf_clear(&s->rows);
	return rc;
}

static int pg_into(void *db, unsigned slot, const char *table, const char *columns, struct err *e)
{
	struct db *d = db;
	struct buf b = BUF_INIT(1 << 20);
	char *copy;
	int rc = array_grow(&d->slot, &d->nslot, slot + 1, sizeof(struct slot), SLOTS_MAX)
			 ? err_nomem(e)
			 : flush(d, &d->slot[slot], e);

	if (rc)
		return rc;
	buf_printf(&b, "COPY %s (%s) FROM STDIN BINARY", table, columns);
	copy = (char *)buf_take(&b, NULL);
	buf_done(&b);
	if (!copy)
		return err_nomem(e);
	free(d->slot[slot].copy);
	d->slot[slot].copy = copy;
	d->slot[slot].rows.max = SLOT_MAX_BYTES;
	return 0;
}

static void put_cell(struct buf *b, const struct arvalue *v)
{
	uint8_t raw[12];

	if (v->class == AR_INT || v->class == AR_REAL) {
		put_be(raw, 8, 4);
		put_be(raw + 4, bits_of(v), 8);
		buf_put(b, raw, 12);
		return;
	}
	put_be(raw, v->class == AR_NULL ? UINT32_MAX : v->n, 4);
	buf_put(b, raw, 4);
	if (v->class != AR_NULL)
		buf_put(b, v->s, v->n);
}

static int pg_put(void *db, unsigned slot, const struct arvalue *v, unsigned n, struct err *e)
{
	struct db *d = db;
	struct slot *s = &d->slot[slot];
	uint8_t count[2];

	put_be(count, n, 2);
	buf_put(&s->rows, count, 2);
	for (unsigned i = 0; i < n; i++)
		put_cell(&s->rows, &v[i]);
	if (s->rows.failed)
		return err_nomem(e);
	return s->rows.n > SLOT_BYTES ? flush(d, s, e) : 0;
}

/* --- transactions */

static int pg_begin(void *db, struct err *e)
{
	int rc = simple(db, "BEGIN", e);

	return rc ? rc : simple(db, "SELECT pg_advisory_xact_lock(1332563297)", e);
}

static int pg_view(void *db, struct err *e)
{
	return simple(db, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", e);
}

static int pg_commit(void *db, struct err *e)
{
	struct db *d = db;
	int rc = 0;

	for (size_t i = 0; !rc && i < d->nslot; i++)
		rc = flush(d, &d->slot[i], e);
	return rc ? rc : simple(d, "COMMIT", e);
}

static void pg_rollback(void *db)
{
	struct db *d = db;

	for (size_t i = 0; i < d->nslot; i++)
		buf_clear(&d->slot[i].rows);
	d->pq.clear(d->pq.exec(d->c, "ROLLBACK"));
}

static void pg_close(void *db)
{
	struct db *d = db;

	for (size_t i = 0; i < d->nslot; i++) {
		free(d->slot[i].copy);
		buf_done(&d->slot[i].rows);
	}
	free(d->slot);
	if (d->c)
		d->pq.finish(d->c);
	free(d);
}

static int take_number(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		       struct err *e)
{
	*(int64_t *)arg = v->class == AR_INT ? v->i : 0;
	return 0;
}

static int pg_look(void *db, bool *is_empty, struct err *e)
{
	int64_t n = 0;
	int rc = pg_run(
		db,
		&(struct arsql_statement){
			.text = "SELECT CASE WHEN to_regclass('omig_archive.archive') IS NULL THEN 1 ELSE 0 END" },
		take_number, &n, e);

	*is_empty = n == 1;
	return rc;
}

static const struct arsql_ops pg_ops = {
	.key = "BIGINT PRIMARY KEY",
	.bytes = "BYTEA",
	.schema = "omig_archive.",
	.hex = { "encode(", ", 'hex')" },
	.has_views_replaced = true,
	.stamp = "CREATE SCHEMA IF NOT EXISTS omig_archive",
	.look = pg_look,
	.begin = pg_begin,
	.commit = pg_commit,
	.view = pg_view,
	.rollback = pg_rollback,
	.run = pg_run,
	.into = pg_into,
	.put = pg_put,
	.close = pg_close,
};

/* --- opening */

static void ignore_notice(void *arg, const PGresult *r)
{
}

static int settle(struct db *d, enum armode mode, nsec_t time_ns, struct err *e)
{
	char sql[160];
	const char *encoding = d->pq.parameterStatus(d->c, "server_encoding");
	int rc;

	d->pq.setNoticeReceiver(d->c, ignore_notice, NULL);
	if (!str_eq(encoding, "UTF8"))
		return err_set(e, ERR_UNSUPPORTED,
			       "the database has the encoding %.20s; an archive needs UTF8",
			       encoding ? encoding : "?");
	/*
	 * pg_catalog is first. Otherwise a loader could call functions of the schema's owner, for
	 * example one named max().
	 */
	rc = simple(d, "SET search_path = pg_catalog, omig_archive", e);
	rc = rc ? rc : simple(d, "SET extra_float_digits = 3", e);
	if (!rc && mode == AR_WRITE)
		return simple(d, "SET lock_timeout = '10s'", e);
	snprintf(sql, sizeof(sql), "SET statement_timeout = %lld",
		 (long long)((time_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC));
	rc = rc ? rc : simple(d, sql, e);
	rc = rc ? rc : simple(d, "SET default_transaction_read_only = on", e);
	d->is_reader = true;
	d->time_ns = time_ns;
	return rc;
}

int arpg_open(const char *url, enum armode mode, nsec_t time_ns, struct arsql *out, struct err *e)
{
	/* The URL is the last entry, and has precedence. */
	static const char *const keys[] = { "connect_timeout", "application_name",
					    "client_encoding", "dbname", NULL };
	const char *const values[] = { "10", "omig", "UTF8", url, NULL };
	struct db *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return err_nomem(e);
	rc = arpq_load(&d->pq, e);
	if (!rc)
		d->c = d->pq.connectdbParams(keys, values, 1);
	if (!rc && !d->c)
		rc = err_nomem(e);
	if (!rc)
		rc = d->pq.status(d->c) == ARPQ_CONNECTION_OK
			     ? settle(d, mode, time_ns, e)
			     : say(e, ERR_CLOSED, d->pq.errorMessage(d->c));
	if (rc) {
		pg_close(d);
		return rc;
	}
	*out = (struct arsql){ &pg_ops, d };
	return 0;
}
