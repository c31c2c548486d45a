/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of an empty archive. docs/archive.md describes them. */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "eventlog/archive/arcat.h"

#include <inttypes.h>

/* @S: the schema; @K: a key of 64 bits; @B: bytes. */
static const char *const tables[] = {
	"CREATE TABLE @Sarchive (version BIGINT NOT NULL, generation BIGINT NOT NULL)",
	"CREATE TABLE @Sstream (sid @K, stream BIGINT NOT NULL UNIQUE, bytes @B)",
	"CREATE TABLE @Sstream_constant (sid BIGINT NOT NULL, place BIGINT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, "
	"PRIMARY KEY (sid, place))",
	"CREATE TABLE @Sloaded (sid BIGINT NOT NULL, first BIGINT NOT NULL, next BIGINT NOT NULL, PRIMARY KEY (sid, first))",
	"CREATE TABLE @Stype (type @K, tab TEXT NOT NULL, name TEXT NOT NULL, bytes @B NOT NULL, n BIGINT NOT NULL, first_ns BIGINT, "
	"last_ns BIGINT)",
	"CREATE TABLE @Sfield (type BIGINT NOT NULL, place BIGINT NOT NULL, col TEXT NOT NULL, name TEXT NOT NULL, bytes @B NOT NULL, "
	"class BIGINT NOT NULL, kind BIGINT NOT NULL, nth BIGINT NOT NULL, is_ident BIGINT NOT NULL, n BIGINT NOT NULL, "
	"mean DOUBLE PRECISION, m2 DOUBLE PRECISION, low DOUBLE PRECISION, high DOUBLE PRECISION, PRIMARY KEY (type, place))",
	"CREATE TABLE @Sdescription (d @K, type BIGINT NOT NULL, level BIGINT NOT NULL, hash BIGINT NOT NULL, bytes @B NOT NULL)",
	"CREATE INDEX description_hash ON description (hash)",
	"CREATE TABLE @Sconstant (d BIGINT NOT NULL, place BIGINT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, "
	"PRIMARY KEY (d, place))",
	"CREATE VIEW @Sbaseline AS SELECT t.name AS event, f.name AS field, f.n AS n, f.mean AS mean, "
	"CASE WHEN f.n > 1 THEN f.m2 / (f.n - 1) END AS variance, f.low AS low, f.high AS high "
	"FROM type AS t JOIN field AS f ON f.type = t.type WHERE f.class < 3 AND f.n > 0",
	"INSERT INTO archive (version, generation) VALUES (1, 1)",
};

static int make_one(const struct arsql *s, const char *text, struct buf *sql, struct err *e)
{
	buf_clear(sql);
	for (; *text; text++)
		if (*text != '@')
			buf_putc(sql, (uint8_t)*text);
		else
			buf_puts(sql, *++text == 'K' ? s->ops->key
				      : *text == 'S' ? s->ops->schema
						     : s->ops->bytes);
	return sql->failed ? err_nomem(e) : arsql_do(s, buf_str(sql), e);
}

static int make_all(const struct arsql *s, struct err *e)
{
	struct buf sql = BUF_INIT(1 << 16);
	int rc = s->ops->stamp ? arsql_do(s, s->ops->stamp, e) : 0;

	for (size_t i = 0; !rc && i < ARRAY_LEN(tables); i++)
		rc = make_one(s, tables[i], &sql, e);
	buf_done(&sql);
	return rc;
}

static int make(const struct arsql *s, struct err *e)
{
	bool is_empty;
	int rc = s->ops->begin(s->db, e);

	if (rc)
		return rc;
	rc = s->ops->look(s->db, &is_empty, e); /* another loader may have made it meanwhile */
	rc = rc || !is_empty ? rc : make_all(s, e);
	rc = rc ? rc : s->ops->commit(s->db, e);
	if (rc)
		s->ops->rollback(s->db);
	return rc;
}

int arschema_check(const struct arsql *s, enum armode mode, struct err *e)
{
	bool is_empty;
	int64_t version = 0;
	int rc = s->ops->look(s->db, &is_empty, e);

	if (!rc && is_empty)
		rc = mode == AR_WRITE ? make(s, e)
				      : err_set(e, ERR_INVALID, "is empty: nothing was loaded");
	rc = rc ? rc : arsql_number(s, "SELECT version FROM archive", &version, e);
	if (!rc && version != 1)
		rc = err_set(e, ERR_UNSUPPORTED,
			     "is an archive of version %" PRId64 "; this program reads version 1",
			     version);
	return rc;
}
