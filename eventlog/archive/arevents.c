/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A single statement over all tables. Each column of its result has one class, in both databases: a
 * table's columns are assigned to result columns of their class. Missing ones are NULL.
 */
#include "eventlog/archive/arevents.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "eventlog/archive/arvalue.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#define SQL_MAX_BYTES (32u << 20) /* AREVENTS_CELLS_MAX names of columns, twice */
/* of all descriptions: a larger text does not describe events */
#define KNOWN_MAX_BYTES (64u << 20)
#define HEAD 3 /* id, ts, d */

/* Columns of the result with a field's values; 0: none. */
struct place {
	unsigned usual, other; /* other: for a NaN, or bytes that are not text */
};

struct known {
	struct evtype *type; /* owned */
	struct place place[]; /* type->nfield entries */
};

struct origin {
	uint64_t stream;
	struct evtype *type; /* owned; NULL: the stream has no constants */
};

struct reader {
	const struct archive *a;
	arevents_fn fn;
	void *arg;
	struct arevents_report *report;
	struct map known, origins; /* owned; by d, and by sid */
	int64_t last_d, last_sid; /* largest known numbers: later rows were loaded meanwhile */
	size_t bytes;
	/* first column of each class; number of all columns */
	unsigned first[AR_NCLASSES], columns;
	struct evvalue value[EV_FIELDS_MAX];
	struct evfield field[EV_FIELDS_MAX]; /* fields of an event that lacks some */
	struct evtype lacking;
};

/* --- descriptions and streams */

static int not_ours(struct err *e)
{
	return err_set(e, ERR_INVALID, "is not an archive of Omig: a description is invalid");
}

static int count_bytes(struct reader *r, size_t n, struct err *e)
{
	r->bytes += n;
	return r->bytes <= KNOWN_MAX_BYTES
		       ? 0
		       : err_set(e, ERR_LIMIT, "the archive has more than %u MB of descriptions",
				 KNOWN_MAX_BYTES >> 20);
}

static int decode(const struct arvalue *v, bool is_stream, struct evtype **out, struct err *e)
{
	unsigned number;
	int rc;

	if (v->class != AR_BYTES || !v->n || v->n > EV_RECORD_MAX_BYTES)
		return not_ours(e);
	rc = evtype_decode(bytes_at(v->s, v->n), false, &number, out, NULL);
	if (rc)
		return rc == -ERR_NOMEM ? err_nomem(e) : not_ours(e);
	if (!number == is_stream)
		return 0;
	free(*out);
	return not_ours(e);
}

static int take_origin(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		       struct err *e)
{
	struct reader *r = arg;
	struct origin *o;
	int rc;

	if (v[0].class != AR_INT || v[1].class != AR_INT || v[0].i <= r->last_sid)
		return not_ours(e);
	rc = count_bytes(r, v[2].n + sizeof(*o), e);
	if (rc)
		return rc;
	o = calloc(1, sizeof(*o));
	if (!o)
		return err_nomem(e);
	o->stream = (uint64_t)v[1].i;
	r->last_sid = v[0].i;
	rc = v[2].class == AR_NULL ? 0 : decode(&v[2], true, &o->type, e);
	if (!rc && map_put(&r->origins, (uint64_t)v[0].i, o, NULL)) {
		free(o->type);
		rc = err_nomem(e);
	}
	if (rc)
		free(o);
	return rc;
}

static unsigned column_of(const struct reader *r, const struct artype *t, const char *name,
			  unsigned nth, enum arclass class)
{
	const struct arfield *f = arcat_column(t, name, nth, class);

	return f ? r->first[class] + f->rank : 0;
}

static struct place place_of(const struct reader *r, const struct artype *t,
			     const struct evtype *like, unsigned i)
{
	const char *name = like->field[i].name;
	unsigned nth = arvalue_nth(like, i);

	switch (like->field[i].kind) {
	case EV_STRING:
		return (struct place){ column_of(r, t, name, nth, AR_TEXT),
				       column_of(r, t, name, nth, AR_BYTES) };
	case EV_FLOAT:
	case EV_DOUBLE:
		return (struct place){ column_of(r, t, name, nth, AR_REAL),
				       column_of(r, t, name, nth, AR_TEXT) };
	default:
		return (struct place){ column_of(r, t, name, nth, AR_INT), 0 };
	}
}

/* Takes ownership of the type on success. */
static int know(struct reader *r, const struct artype *t, int64_t d, struct evtype *type,
		struct err *e)
{
	struct known *k = malloc(sizeof(*k) + type->nfield * sizeof(k->place[0]));

	if (!k || map_put(&r->known, (uint64_t)d, k, NULL)) {
		free(k);
		return err_nomem(e);
	}
	k->type = type;
	for (unsigned i = 0; i < type->nfield; i++)
		k->place[i] = place_of(r, t, type, i);
	return 0;
}

static int take_description(void *arg, const struct arvalue *v, const char *const *names,
			    unsigned n, struct err *e)
{
	struct reader *r = arg;
	const struct artype *t;
	struct evtype *type;
	int rc;

	if (v[0].class != AR_INT || v[0].i <= r->last_d)
		return not_ours(e);
	rc = count_bytes(r, v[1].n + sizeof(struct known), e);
	rc = rc ? rc : decode(&v[1], false, &type, e);
	if (rc)
		return rc;
	t = arcat_find(archive_cat(r->a), type->name);
	/* NULL: another loader has just added the type */
	rc = t ? know(r, t, v[0].i, type, e) : 0;
	if (rc || !t)
		free(type);
	else
		r->last_d = v[0].i;
	return rc;
}

static int load_common(struct reader *r, struct err *e)
{
	const struct arsql *s = archive_sql(r->a);
	int rc = s->ops->run(s->db,
			     &(struct arsql_statement){
				     .text = "SELECT sid, stream, bytes FROM stream ORDER BY sid" },
			     take_origin, r, e);

	return rc ? rc
		  : s->ops->run(s->db,
				&(struct arsql_statement){
					.text = "SELECT d, bytes FROM description ORDER BY d" },
				take_description, r, e);
}

static void forget(struct reader *r)
{
	struct map_iter i = { 0 };

	while (map_next(&r->known, &i)) {
		free(((struct known *)i.value)->type);
		free(i.value);
	}
	for (i = (struct map_iter){ 0 }; map_next(&r->origins, &i);) {
		free(((struct origin *)i.value)->type);
		free(i.value);
	}
	map_done(&r->known);
	map_done(&r->origins);
	free(r);
}

/* --- rows */

static bool get_real(const struct arvalue *v, const struct arvalue *other, double *out)
{
	if (v->class == AR_REAL) {
		*out = v->r;
		return true;
	}
	*out = (double)NAN;
	return other->class == AR_TEXT && other->n == 3 && !memcmp(other->s, "nan", 3);
}

static bool get_string(const struct arvalue *v, struct evvalue *out)
{
	out->s = v->s;
	out->n = (uint32_t)v->n;
	return v->s && v->n <= EV_RECORD_MAX_BYTES;
}

static bool get_value(const struct arvalue *v, const struct arvalue *other, struct evvalue *out)
{
	double real;

	switch (out->kind) {
	case EV_INT32:
		out->i32 = (int32_t)v->i;
		return v->class == AR_INT && v->i >= INT32_MIN && v->i <= INT32_MAX;
	case EV_INT64:
		out->i64 = v->i;
		return v->class == AR_INT;
	case EV_FLOAT:
		if (!get_real(v, other, &real) || (isfinite(real) && fabs(real) > (double)FLT_MAX))
			return false;
		out->f32 = (float)real;
		return true;
	case EV_DOUBLE:
		return get_real(v, other, &out->f64);
	default:
		return v->class == AR_TEXT ? get_string(v, out)
					   : other->class == AR_BYTES && get_string(other, out);
	}
}

/*
 * Returns the type with the present fields: that of k, or a copy without the missing fields.
 * Returns NULL if the row is not an event.
 */
static const struct evtype *fill(struct reader *r, const struct known *k, const struct arvalue *v)
{
	static const struct arvalue none;
	const struct evtype *t = k->type;
	unsigned n = 0;

	for (unsigned i = 0; i < t->nfield; i++) {
		const struct arvalue *usual = k->place[i].usual ? &v[k->place[i].usual] : &none;
		const struct arvalue *other = k->place[i].other ? &v[k->place[i].other] : &none;

		if (usual->class == AR_NULL && other->class == AR_NULL)
			continue;
		r->field[n] = t->field[i];
		r->value[n].kind = t->field[i].kind;
		if (!get_value(usual, other, &r->value[n++]))
			return NULL;
	}
	if (n < t->nfield) {
		r->report->missing += t->nfield - n;
		r->lacking = *t;
		r->lacking.field = r->field;
		r->lacking.nfield = n;
		t = &r->lacking;
	}
	return evtype_record_bytes(t, r->value, n) ? t : NULL;
}

static int take_row(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		    struct err *e)
{
	struct reader *r = arg;
	bool is_row = n == r->columns && v[0].class == AR_INT && v[0].i > 0 &&
		      v[1].class == AR_INT && v[2].class == AR_INT;
	const struct known *k = is_row ? map_find(&r->known, (uint64_t)v[2].i) : NULL;
	const struct origin *o =
		is_row ? map_find(&r->origins, (uint64_t)v[0].i >> ARCHIVE_NUMBER_BITS) : NULL;
	struct event ev = { .value = r->value };

	if (is_row && (v[2].i > r->last_d || v[0].i >> ARCHIVE_NUMBER_BITS > r->last_sid))
		return 0;
	ev.type = k && o ? fill(r, k, v) : NULL;
	if (!ev.type) {
		r->report->bad++;
		return 0;
	}
	ev.stream_type = o->type;
	ev.stream = o->stream;
	ev.number = (uint64_t)v[0].i & ((UINT64_C(1) << ARCHIVE_NUMBER_BITS) - 1);
	ev.wall_ns = v[1].i;
	ev.ticks = (uint64_t)v[1].i;
	r->report->events++;
	return r->fn(r->arg, &ev);
}

/* --- the statement */

static int place_columns(struct reader *r, struct err *e)
{
	const struct arcat *c = archive_cat(r->a);
	unsigned most[AR_NCLASSES] = { 0 };

	for (size_t i = 0; i < c->n; i++)
		for (int k = AR_INT; k < AR_NCLASSES; k++)
			most[k] = c->type[i]->nclass[k] > most[k] ? c->type[i]->nclass[k] : most[k];
	r->columns = HEAD;
	for (int k = AR_INT; k < AR_NCLASSES; k++) {
		r->first[k] = r->columns;
		r->columns += most[k];
	}
	if (r->columns > 4 * AR_COLUMNS_MAX || c->n * r->columns > AREVENTS_CELLS_MAX)
		return err_set(
			e, ERR_LIMIT,
			"the archive has too many types of events to be read by time (%zu, %u columns); use omig log query",
			c->n, r->columns);
	return 0;
}

/* Writes a part without rows, which gives each column its class. */
static void put_head(const struct reader *r, struct buf *b)
{
	const struct arsql_ops *o = archive_sql(r->a)->ops;
	const char *const words[AR_NCLASSES] = { "", "BIGINT", "DOUBLE PRECISION", "TEXT",
						 o->bytes };
	int class = AR_INT;

	buf_puts(
		b,
		"SELECT CAST(NULL AS BIGINT) AS id, CAST(NULL AS BIGINT) AS ts, CAST(NULL AS BIGINT) AS d");
	for (unsigned i = HEAD; i < r->columns; i++) {
		while (class + 1 < AR_NCLASSES && i >= r->first[class + 1])
			class ++;
		buf_printf(b, ", CAST(NULL AS %s) AS c%u", words[class], i);
	}
	buf_puts(b, " WHERE 1 = 0");
}

static void put_table(const struct reader *r, const struct artype *t,
		      const struct arevents_options *w, struct buf *b)
{
	const char *column[4 * AR_COLUMNS_MAX] = { NULL };

	for (size_t i = 0; i < t->nfield; i++)
		column[r->first[t->field[i]->class] + t->field[i]->rank] = t->field[i]->col;
	buf_puts(b, " UNION ALL SELECT e.id, e.ts, e.d");
	for (unsigned i = HEAD; i < r->columns; i++)
		if (column[i])
			buf_printf(b, ", e.%s", column[i]);
		else
			buf_puts(b, ", NULL");
	buf_printf(b, " FROM %s AS e WHERE 1 = 1", t->tab);
	if (w && w->from != INT64_MIN)
		buf_printf(b, " AND e.ts >= %" PRId64, w->from);
	if (w && w->to != INT64_MAX)
		buf_printf(b, " AND e.ts <= %" PRId64, w->to);
}

/*
 * Writes the statement in parts, because SQLite permits 500 terms. It sorts by ts + 0: otherwise
 * SQLite would sort each table separately, all in memory at once.
 */
static void put_statement(const struct reader *r, const struct arevents_options *w, struct buf *b)
{
	const struct arcat *c = archive_cat(r->a);

	buf_puts(b, "SELECT * FROM (");
	for (size_t i = 0; i < c->n; i++) {
		if (i % AR_PART_TYPES == 0) {
			buf_puts(b, i ? " UNION ALL SELECT * FROM (" : "SELECT * FROM (");
			put_head(r, b);
		}
		put_table(r, c->type[i], w, b);
		if (i % AR_PART_TYPES == AR_PART_TYPES - 1 || i + 1 == c->n)
			buf_printf(b, ") AS p%zu", i / AR_PART_TYPES);
	}
	buf_puts(b, ") AS q ORDER BY q.ts + 0, q.id");
}

static int read_rows(struct reader *r, const struct arevents_options *w, struct err *e)
{
	const struct arsql *s = archive_sql(r->a);
	struct buf b = BUF_INIT(SQL_MAX_BYTES);
	int rc;

	put_statement(r, w, &b);
	rc = b.failed ? err_nomem(e)
		      : s->ops->run(s->db, &(struct arsql_statement){ .text = buf_str(&b) },
				    take_row, r, e);
	buf_done(&b);
	return rc;
}

static int check_names(const struct archive *a, const struct arevents_options *w, struct err *e)
{
	for (unsigned i = 0; w && i < w->nname; i++)
		if (!arcat_find(archive_cat(a), w->name[i]))
			return err_set(e, ERR_NOTFOUND, "the archive has no event '%.80s'",
				       w->name[i]);
	return 0;
}

int arevents_read(const struct archive *a, const struct arevents_options *w,
		  const struct arevents_taker *to, struct arevents_report *out, struct err *e)
{
	int rc = check_names(a, w, e);
	struct reader *r = rc ? NULL : calloc(1, sizeof(*r));

	*out = (struct arevents_report){ 0 };
	if (!r)
		return rc ? rc : err_nomem(e);
	r->a = a;
	r->fn = to->fn;
	r->arg = to->arg;
	r->report = out;
	map_init(&r->known);
	map_init(&r->origins);
	rc = place_columns(r, e);
	rc = rc ? rc : load_common(r, e);
	if (!rc && archive_cat(a)->n)
		rc = read_rows(r, w, e);
	forget(r);
	return rc;
}
