/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views with the classic shape over the wide tables: event, ident, value; and row, which has id and
 * description of each event. A view of all tables would have to be written again with each new
 * type. So there are views of parts, and one that joins the parts.
 */
#include "common/base/buf.h"
#include "common/base/array.h"
#include "eventlog/archive/arcat.h"

/* AR_PART_TYPES * AR_COLUMNS_MAX columns of 70 bytes, three times */
#define SQL_MAX_BYTES (16u << 20)

static void begin_view(struct buf *b, const struct arsql *s, const char *name, size_t part)
{
	buf_printf(b, "CREATE %sVIEW %s%s_part_%zu AS ",
		   s->ops->has_views_replaced ? "OR REPLACE " : "", s->ops->schema, name, part);
}

/* Writes a field of any class as a number; NULL if it is not a number. */
static void put_status(struct buf *b, const struct artype *t)
{
	for (size_t i = 0; i < t->nfield; i++)
		if (!strcmp(t->field[i]->name, "status") && t->field[i]->class == AR_INT) {
			buf_printf(b, "e.%s", t->field[i]->col);
			return;
		}
	buf_puts(b, "CAST(NULL AS BIGINT)");
}

static void put_event(struct buf *b, const struct arsql_ops *o, const struct artype *t)
{
	buf_puts(
		b,
		"SELECT e.id AS event_id, e.ts / 1000000000.0 AS ts, y.name AS event, d.level AS level, "
		"CASE WHEN y.name LIKE '%.start' THEN 0 WHEN y.name LIKE '%.end' THEN 1 ELSE 2 END AS startend, ");
	put_status(b, t);
	buf_printf(
		b,
		" AS status FROM %s AS e JOIN description AS d ON d.d = e.d JOIN type AS y ON y.type = d.type",
		t->tab);
}

static void put_row(struct buf *b, const struct arsql_ops *o, const struct artype *t)
{
	buf_printf(b, "SELECT id, d FROM %s", t->tab);
}

/* Writes no columns for a term without rows. */
static void put_fields(struct buf *b, const struct arsql_ops *o, const struct artype *t,
		       int is_ident)
{
	buf_puts(b, "SELECT * FROM (SELECT e.id AS event_id, f.name AS name, CASE f.place");
	for (size_t i = 0; i < t->nfield; i++) {
		const struct arfield *f = t->field[i];

		const char *before = f->class == AR_TEXT    ? ""
				     : f->class == AR_BYTES ? o->hex[0]
							    : "CAST(";
		const char *after = f->class == AR_TEXT	   ? ""
				    : f->class == AR_BYTES ? o->hex[1]
							   : " AS TEXT)";

		buf_printf(b, " WHEN %u THEN %se.%s%s", f->place, before, f->col, after);
	}
	buf_printf(
		b,
		"%s END AS value FROM %s AS e JOIN field AS f ON f.type = %u AND f.is_ident = %d) AS x WHERE value IS NOT NULL",
		t->nfield ? "" : " WHEN -1 THEN ''", t->tab, t->number, is_ident);
}

static void put_ident(struct buf *b, const struct arsql_ops *o, const struct artype *t)
{
	put_fields(b, o, t, 1);
}

static void put_value(struct buf *b, const struct arsql_ops *o, const struct artype *t)
{
	put_fields(b, o, t, 0);
}

static const struct view {
	const char *name;
	void (*put)(struct buf *b, const struct arsql_ops *o, const struct artype *t);
	const char *more; /* further terms besides the parts */
} views[] = {
	{ "row", put_row, "" },
	{ "event", put_event, "" },
	{ "ident", put_ident, "" },
	{ "value", put_value,
	  " UNION ALL SELECT r.id AS event_id, c.name AS name, c.value AS value FROM row_all AS r JOIN constant AS c ON c.d = r.d"
	  " UNION ALL SELECT r.id AS event_id, c.name AS name, c.value AS value FROM row_all AS r "
	  "JOIN stream_constant AS c ON c.sid = r.id >> 40" },
};

#define NVIEWS ARRAY_LEN(views)

static int drop(const struct arsql *s, const char *sql, struct buf *b, struct err *e)
{
	return s->ops->has_views_replaced ? 0 : b->failed ? err_nomem(e) : arsql_do(s, sql, e);
}

static int run_built(const struct arsql *s, struct buf *b, struct err *e)
{
	int rc = b->failed ? err_nomem(e) : arsql_do(s, buf_str(b), e);

	buf_clear(b);
	return rc;
}

/* A view over types, its destination, and the function that writes the term of one type. */
struct writing {
	const struct arcat *c;
	const struct arsql *s;
	struct buf b;
};

static int write_one(struct writing *w, const struct view *v, size_t part, struct err *e)
{
	const struct arcat *c = w->c;
	const struct arsql *s = w->s;
	struct buf *b = &w->b;
	size_t end = (part + 1) * AR_PART_TYPES < c->n ? (part + 1) * AR_PART_TYPES : c->n;
	bool is_first = true;
	int rc;

	buf_printf(b, "DROP VIEW IF EXISTS %s_part_%zu", v->name, part);
	rc = drop(s, buf_str(b), b, e);
	buf_clear(b);
	begin_view(b, s, v->name, part);
	for (size_t i = part * AR_PART_TYPES; i < end; i++) {
		if (!c->type[i]->is_made)
			continue;
		buf_puts(b, is_first ? "" : " UNION ALL ");
		v->put(b, s->ops, c->type[i]);
		is_first = false;
	}
	return rc ? rc : run_built(s, b, e);
}

int arviews_write(const struct arcat *c, const struct arsql *s, size_t part, struct err *e)
{
	struct writing w = { .c = c, .s = s, .b = BUF_INIT(SQL_MAX_BYTES) };
	int rc = 0;

	for (size_t i = 0; !rc && i < NVIEWS; i++)
		rc = write_one(&w, &views[i], part, e);
	buf_done(&w.b);
	return rc;
}

static int join_one(struct writing *w, const struct view *v, const char *name, struct err *e)
{
	const struct arcat *c = w->c;
	const struct arsql *s = w->s;
	struct buf *b = &w->b;
	int rc;

	buf_printf(b, "DROP VIEW IF EXISTS %s", name);
	rc = drop(s, buf_str(b), b, e);
	buf_clear(b);
	buf_printf(b, "CREATE %sVIEW %s%s AS ", s->ops->has_views_replaced ? "OR REPLACE " : "",
		   s->ops->schema, name);
	for (size_t i = 0; i * AR_PART_TYPES < c->n; i++)
		buf_printf(b, "%sSELECT * FROM %s_part_%zu", i ? " UNION ALL " : "", v->name, i);
	buf_puts(b, v->more);
	return rc ? rc : run_built(s, b, e);
}

int arviews_join(const struct arcat *c, const struct arsql *s, struct err *e)
{
	struct writing w = { .c = c, .s = s, .b = BUF_INIT(SQL_MAX_BYTES) };
	int rc = join_one(&w, &views[0], "row_all", e);

	for (size_t i = 1; !rc && i < NVIEWS; i++)
		rc = join_one(&w, &views[i], views[i].name, e);
	buf_done(&w.b);
	return rc;
}
