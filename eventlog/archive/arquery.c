/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arquery.h"

#include "common/base/array.h"
#include "common/base/str.h"

#define TYPES_MAX 400 /* terms of one SQL statement: SQLite permits 500 */
/* values: a key that is a constant takes two for each type */
#define VALUES_MAX (ARQUERY_WORDS_MAX + 4 * TYPES_MAX)

struct asked {
	const struct archive *a;
	arsql_row_fn fn;
	void *arg;
	char text[ARQUERY_MAX_BYTES];
	char *word[ARQUERY_WORDS_MAX];
	bool is_quoted[ARQUERY_WORDS_MAX];
	unsigned n;
	struct buf sql;
	struct arvalue value[VALUES_MAX];
	unsigned nvalue;
	bool is_too_much; /* there were more values than room */
	const struct artype *type[TYPES_MAX]; /* selected types */
	unsigned ntype;
};

/* --- words of a sentence */

static char *cut_quoted(char *s, char **end, struct err *e)
{
	char *close = strchr(s + 1, *s);

	if (!close) {
		err_set(e, ERR_PARSE, "a %c is not closed", *s);
		return NULL;
	}
	*close = '\0';
	*end = close + 1;
	return s + 1;
}

static int cut_words(struct asked *q, const char *sentence, struct err *e)
{
	char *s = q->text;

	if (!str_copy(q->text, sizeof(q->text), sentence))
		return err_set(e, ERR_PARSE, "a sentence has at most %d bytes",
			       ARQUERY_MAX_BYTES - 1);
	for (s += strspn(s, " \t\n"); *s; s += strspn(s, " \t\n")) {
		if (q->n == ARQUERY_WORDS_MAX)
			return err_set(e, ERR_PARSE, "a sentence has at most %d words",
				       ARQUERY_WORDS_MAX);
		q->is_quoted[q->n] = *s == '"' || *s == '\'';
		if (q->is_quoted[q->n]) {
			q->word[q->n] = cut_quoted(s, &s, e);
			if (!q->word[q->n])
				return -ERR_PARSE;
		} else {
			q->word[q->n] = s;
			s += strcspn(s, " \t\n");
			if (*s)
				*s++ = '\0';
		}
		q->n++;
	}
	return 0;
}

static bool is_word(const struct asked *q, unsigned i, const char *word)
{
	return i < q->n && !q->is_quoted[i] && str_eq(q->word[i], word);
}

static int not_understood(struct err *e)
{
	return err_set(
		e, ERR_PARSE,
		"is not a sentence of this language; try: types | streams | gaps | baseline [of EVENT] | "
		"count of EVENT [by FIELD] | EVENT where FIELD > 5 | slowest 20 lifelines of EVENT [by KEY]");
}

/* --- SQL */

static void add_value(struct asked *q, struct arvalue v)
{
	if (q->nvalue < VALUES_MAX)
		q->value[q->nvalue++] = v;
	else
		q->is_too_much = true;
}

/* Checks that the statement is complete. Fails with ERR_LIMIT, ERR_NOMEM. */
static int check_statement(const struct asked *q, struct err *e)
{
	if (q->is_too_much || (q->sql.failed && q->sql.n > q->sql.max / 2))
		return err_set(e, ERR_LIMIT, "is too large for one query");
	return q->sql.failed ? err_nomem(e) : 0;
}

static int run(struct asked *q, struct err *e)
{
	const struct arsql *s = archive_sql(q->a);
	int rc = check_statement(q, e);

	return rc ? rc
		  : s->ops->run(s->db,
				&(struct arsql_statement){
					.text = buf_str(&q->sql), .v = q->value, .n = q->nvalue },
				q->fn, q->arg, e);
}

static void put_as_text(struct asked *q, const struct arfield *f)
{
	const struct arsql_ops *o = archive_sql(q->a)->ops;

	if (f->class == AR_TEXT)
		buf_printf(&q->sql, "e.%s", f->col);
	else if (f->class == AR_BYTES)
		buf_printf(&q->sql, "%se.%s%s", o->hex[0], f->col, o->hex[1]);
	else
		buf_printf(&q->sql, "CAST(e.%s AS TEXT)", f->col);
}

static bool has_field(const struct artype *t, const char *name)
{
	for (size_t i = 0; i < t->nfield; i++)
		if (str_eq(t->field[i]->name, name))
			return true;
	return false;
}

/* Writes a constant of the description, or of the stream. */
static void put_constant(struct asked *q, const char *name)
{
	struct arvalue v = AR_S(name, strlen(name));

	buf_printf(
		&q->sql,
		"coalesce((SELECT min(c.value) FROM constant AS c WHERE c.d = e.d AND c.name = $%u), "
		"(SELECT min(c.value) FROM stream_constant AS c WHERE c.sid = e.id >> %d AND c.name = $%u))",
		q->nvalue + 1, ARCHIVE_NUMBER_BITS, q->nvalue + 2);
	add_value(q, v);
	add_value(q, v);
}

/* Writes a key as text: the field of this name and any class, or the constant. */
static void put_key(struct asked *q, const struct artype *t, const char *name)
{
	unsigned n = 0;

	if (!has_field(t, name)) {
		put_constant(q, name);
		return;
	}
	buf_puts(&q->sql, "coalesce(NULL");
	for (size_t i = 0; i < t->nfield; i++)
		if (str_eq(t->field[i]->name, name)) {
			buf_puts(&q->sql, ", ");
			put_as_text(q, t->field[i]);
			n++;
		}
	buf_puts(&q->sql, n > 1 ? ")" : ", NULL)");
}

/* --- events by name: a name, or NAME* */

static bool is_meant(const struct artype *t, const char *pattern, bool has_stages)
{
	size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '*')
		return !strncmp(t->name, pattern, n - 1);
	return str_eq(t->name, pattern) ||
	       (has_stages && !strncmp(t->name, pattern, n) && t->name[n] == '.');
}

static int find_types(struct asked *q, const char *pattern, bool has_stages, struct err *e)
{
	const struct arcat *c = archive_cat(q->a);

	q->ntype = 0;
	for (size_t i = 0; i < c->n; i++) {
		if (!is_meant(c->type[i], pattern, has_stages))
			continue;
		if (q->ntype == TYPES_MAX)
			return err_set(e, ERR_LIMIT,
				       "more than %d types of events have such a name", TYPES_MAX);
		q->type[q->ntype++] = c->type[i];
	}
	return q->ntype ? 0 : err_set(e, ERR_NOTFOUND, "the archive has no event '%.80s'", pattern);
}

/* Reports a field that none of the types has, instead of an empty result. */
static int is_known_field(const struct asked *q, const struct artype *const *t, unsigned n,
			  const char *name, struct err *e)
{
	const struct arvalue v[] = { AR_S(name, strlen(name)), AR_S(name, strlen(name)) };
	int64_t has = 0;
	int rc;

	for (unsigned i = 0; i < n; i++)
		if (has_field(t[i], name))
			return 0;
	rc = arsql_number_of(
		archive_sql(q->a),
		&(struct arsql_statement){
			.text = "SELECT (SELECT count(*) FROM constant WHERE name = $1) + (SELECT count(*) FROM stream_constant WHERE name = $2)",
			.v = v,
			.n = 2 },
		&has, e);
	return rc || has ? rc
			 : err_set(e, ERR_NOTFOUND, "these events have no field '%.80s'", name);
}

/* Writes "(SELECT KEY AS k, ts FROM table UNION ALL ...) AS q". */
static void put_keys(struct asked *q, const struct artype *const *t, unsigned n, const char *key)
{
	buf_puts(&q->sql, "(");
	for (unsigned i = 0; i < n; i++) {
		buf_puts(&q->sql, i ? " UNION ALL SELECT " : "SELECT ");
		put_key(q, t[i], key);
		buf_printf(&q->sql, " AS k, e.ts AS ts FROM %s AS e", t[i]->tab);
	}
	buf_puts(&q->sql, ") AS q");
}

/* Writes " IN (0, 3, 5)", with the numbers of the types that were found. */
static void put_numbers(struct asked *q)
{
	buf_puts(&q->sql, " IN (0");
	for (unsigned i = 0; i < q->ntype; i++)
		buf_printf(&q->sql, ", %u", q->type[i]->number);
	buf_puts(&q->sql, ")");
}

/* --- sentences */

static int ask_count(struct asked *q, struct err *e)
{
	const struct artype *const *t = q->type;
	unsigned n;
	int rc;

	if (!is_word(q, 1, "of") || !(q->n == 3 || (q->n == 5 && is_word(q, 3, "by"))))
		return not_understood(e);
	rc = find_types(q, q->word[2], false, e);
	n = q->ntype;
	rc = rc || q->n == 3 ? rc : is_known_field(q, t, n, q->word[4], e);
	if (rc)
		return rc;
	if (q->n == 5) {
		buf_puts(&q->sql, "SELECT k AS value, count(*) AS events FROM ");
		put_keys(q, t, n, q->word[4]);
		buf_puts(&q->sql, " GROUP BY k ORDER BY 2 DESC, 1");
		return run(q, e);
	}
	buf_puts(&q->sql, "SELECT name AS event, n AS events FROM type WHERE type");
	put_numbers(q);
	buf_puts(&q->sql, " ORDER BY 2 DESC, 1");
	return run(q, e);
}

/* Answers baseline [of X]: data with which later archives are compared. */
static int ask_baseline(struct asked *q, struct err *e)
{
	int rc = 0;

	if (q->n != 1 && !(q->n == 3 && is_word(q, 1, "of")))
		return not_understood(e);
	buf_puts(&q->sql, "SELECT event, field, n, mean, variance, low, high FROM baseline");
	if (q->n == 3) {
		rc = find_types(q, q->word[2], false, e);
		buf_puts(&q->sql, " WHERE event IN (SELECT name FROM type WHERE type");
		put_numbers(q);
		buf_puts(&q->sql, ")");
	}
	buf_puts(&q->sql, " ORDER BY event, field, low");
	return rc ? rc : run(q, e);
}

/* Returns the most likely key: id, guid, otherwise the first name that ends in .id. */
static const char *guess_key(const struct artype *const *t, unsigned n)
{
	static const char *const usual[] = { "id", "ID", "guid" };
	const char *found = NULL;

	for (unsigned i = 0; i < n; i++)
		for (size_t k = 0; k < t[i]->nfield; k++) {
			const char *name = t[i]->field[k]->name, *dot = strrchr(name, '.');

			for (size_t u = 0; u < ARRAY_LEN(usual); u++)
				if (str_eq(name, usual[u]))
					return name;
			if (!found && dot && str_eq(dot, ".id"))
				found = name;
		}
	return found;
}

/* Answers slowest N lifelines of X [by KEY]. */
static int ask_slowest(struct asked *q, struct err *e)
{
	const struct artype *const *t = q->type;
	const char *key;
	uint64_t limit;
	unsigned n;
	int rc;

	if (q->n < 5 || str_to_u64(q->word[1], 1, 1000000, &limit) || !is_word(q, 2, "lifelines") ||
	    !is_word(q, 3, "of") || !(q->n == 5 || (q->n == 7 && is_word(q, 5, "by"))))
		return not_understood(e);
	rc = find_types(q, q->word[4], true, e);
	n = q->ntype;
	rc = rc || q->n == 5 ? rc : is_known_field(q, t, n, q->word[6], e);
	if (rc)
		return rc;
	key = q->n == 7 ? q->word[6] : guess_key(t, n);
	if (!key)
		return err_set(
			e, ERR_NOTFOUND,
			"these events have no field id, guid or *.id; name the field: ... by KEY");
	buf_puts(
		&q->sql,
		"SELECT k AS key, min(ts) AS begin_ns, max(ts) - min(ts) AS duration_ns, count(*) AS events FROM ");
	put_keys(q, t, n, key);
	buf_printf(&q->sql, " WHERE k IS NOT NULL GROUP BY k ORDER BY 3 DESC, 1 LIMIT %u",
		   (unsigned)limit);
	return run(q, e);
}

static const char *operator_of(const char *word)
{
	static const char *const known[][2] = { { "<", "<" },	{ "<=", "<=" }, { ">", ">" },
						{ ">=", ">=" }, { "==", "=" },	{ "=", "=" },
						{ "!=", "<>" } };

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(word, known[i][0]))
			return known[i][1];
	return NULL;
}

static void put_number(struct asked *q, const struct artype *t, const char *name, const char *op,
		       struct arvalue v)
{
	bool is_first = true;

	for (size_t i = 0; i < t->nfield; i++) {
		const struct arfield *f = t->field[i];
		bool is_whole = f->class == AR_INT && v.class == AR_INT;

		if (!str_eq(f->name, name) || f->class > AR_REAL)
			continue;
		buf_printf(&q->sql,
			   is_whole ? "%se.%s %s CAST($%u AS BIGINT)"
				    : "%sCAST(e.%s AS DOUBLE PRECISION) %s "
				      "CAST($%u AS DOUBLE PRECISION)",
			   is_first ? "" : " OR ", f->col, op, q->nvalue + 1);
		add_value(q, v);
		is_first = false;
	}
	if (is_first)
		buf_puts(&q->sql, "1 = 0");
}

/* Writes one condition FIELD OP VALUE. */
static void put_condition(struct asked *q, const struct artype *t, unsigned at)
{
	const char *op = operator_of(q->word[at + 1]), *text = q->word[at + 2];
	int64_t i;
	double r;

	buf_puts(&q->sql, "(");
	if (!q->is_quoted[at + 2] && !str_to_i64(text, INT64_MIN, INT64_MAX, &i) &&
	    has_field(t, q->word[at])) {
		put_number(q, t, q->word[at], op, AR_I(i));
	} else if (!q->is_quoted[at + 2] && !str_to_double(text, -1e308, 1e308, &r) &&
		   has_field(t, q->word[at])) {
		put_number(q, t, q->word[at], op, AR_R(r));
	} else {
		put_key(q, t, q->word[at]);
		buf_printf(&q->sql, " %s CAST($%u AS TEXT)", op, q->nvalue + 1);
		add_value(q, AR_S(text, strlen(text)));
	}
	buf_puts(&q->sql, ")");
}

struct rows_of {
	struct asked *q;
	const struct artype *t;
	const char *names[3 + AR_COLUMNS_MAX];
};

/* Replaces names of columns by the true names of fields. */
static int rename_columns(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
			  struct err *e)
{
	struct rows_of *r = arg;

	return r->q->fn(r->q->arg, v, r->names, n, e);
}

static int ask_events_of(struct asked *q, const struct artype *t, struct err *e)
{
	const struct arsql *s = archive_sql(q->a);
	struct rows_of r = { .q = q, .t = t, .names = { "ts_ns", "event" } };
	int rc;

	buf_clear(&q->sql);
	q->nvalue = 1;
	q->value[0] = AR_S(t->name, strlen(t->name));
	if (!str_is_utf8(t->name, strlen(t->name)))
		q->value[0] = AR_S(t->tab, strlen(t->tab));
	buf_puts(&q->sql, "SELECT e.ts, CAST($1 AS TEXT)");
	for (size_t i = 0; i < t->nfield; i++) {
		buf_printf(&q->sql, ", e.%s", t->field[i]->col);
		r.names[2 + i] = t->field[i]->name;
	}
	buf_printf(&q->sql, " FROM %s AS e WHERE ", t->tab);
	for (unsigned at = 2; at < q->n; at += 4) {
		buf_puts(&q->sql, at > 2 ? " AND " : "");
		put_condition(q, t, at);
	}
	buf_puts(&q->sql, " ORDER BY e.ts, e.id");
	rc = check_statement(q, e);
	return rc ? rc
		  : s->ops->run(s->db,
				&(struct arsql_statement){
					.text = buf_str(&q->sql), .v = q->value, .n = q->nvalue },
				rename_columns, &r, e);
}

/* Answers X where FIELD OP VALUE [and FIELD OP VALUE]... */
static int ask_where(struct asked *q, struct err *e)
{
	const struct artype *const *t = q->type;
	unsigned n;
	int rc;

	if (q->n < 5 || (q->n - 1) % 4)
		return not_understood(e);
	for (unsigned at = 2; at < q->n; at += 4)
		if (!operator_of(q->word[at + 1]) || (at + 3 < q->n && !is_word(q, at + 3, "and")))
			return not_understood(e);
	rc = find_types(q, q->word[0], false, e);
	n = q->ntype;
	for (unsigned at = 2; !rc && at < q->n; at += 4)
		rc = is_known_field(q, t, n, q->word[at], e);
	for (unsigned i = 0; !rc && i < n; i++)
		rc = ask_events_of(q, t[i], e);
	return rc;
}

static int ask_fixed(struct asked *q, const char *sql, struct err *e)
{
	buf_puts(&q->sql, sql);
	return q->n == 1 ? run(q, e) : not_understood(e);
}

static const char types_sql[] =
	"SELECT name AS event, n AS events, first_ns, last_ns, "
	"(SELECT count(*) FROM field AS f WHERE f.type = t.type) AS fields FROM type AS t ORDER BY 2 DESC, 1";
static const char streams_sql[] =
	"SELECT s.stream AS stream, (SELECT CAST(sum(l.next - l.first) AS BIGINT) FROM loaded AS l WHERE l.sid = s.sid) AS events, "
	"(SELECT count(*) - 1 FROM loaded AS l WHERE l.sid = s.sid) AS gaps, "
	"(SELECT min(c.value) FROM stream_constant AS c WHERE c.sid = s.sid AND c.name = 'HOST') AS host FROM stream AS s ORDER BY s.sid";
static const char gaps_sql[] =
	"SELECT s.stream AS stream, g.gap AS first, g.upto - g.gap AS events FROM (SELECT l.sid AS sid, l.next AS gap, "
	"lead(l.first) OVER (PARTITION BY l.sid ORDER BY l.first) AS upto FROM loaded AS l "
	"UNION ALL SELECT m.sid AS sid, 0 AS gap, min(m.first) AS upto FROM loaded AS m GROUP BY m.sid) AS g "
	"JOIN stream AS s ON s.sid = g.sid WHERE g.upto > g.gap ORDER BY s.sid, g.gap";

static int ask(struct asked *q, struct err *e)
{
	if (is_word(q, 1, "where"))
		return ask_where(q, e);
	if (is_word(q, 0, "types"))
		return ask_fixed(q, types_sql, e);
	if (is_word(q, 0, "streams"))
		return ask_fixed(q, streams_sql, e);
	if (is_word(q, 0, "gaps"))
		return ask_fixed(q, gaps_sql, e);
	if (is_word(q, 0, "baseline"))
		return ask_baseline(q, e);
	if (is_word(q, 0, "count"))
		return ask_count(q, e);
	if (is_word(q, 0, "slowest"))
		return ask_slowest(q, e);
	return not_understood(e);
}

static struct asked *ask_new(const struct archive *a, arsql_row_fn fn, void *arg)
{
	struct asked *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->a = a;
	q->fn = fn;
	q->arg = arg;
	q->sql = BUF_INIT(1 << 20);
	return q;
}

static void ask_free(struct asked *q)
{
	buf_done(&q->sql);
	free(q);
}

int arquery_run(const struct archive *a, const char *sentence, arsql_row_fn fn, void *arg,
		struct err *e)
{
	struct asked *q = ask_new(a, fn, arg);
	int rc;

	if (!q)
		return err_nomem(e);
	rc = cut_words(q, sentence, e);
	rc = rc ? rc : ask(q, e);
	ask_free(q);
	return rc;
}

static void put_stage(struct asked *q, const struct artype *t, const char *key, int stage)
{
	buf_printf(&q->sql, "SELECT e.id AS id, e.ts AS ts, e.id >> %d AS s, %d AS stage, ",
		   ARCHIVE_NUMBER_BITS, stage);
	if (key)
		put_key(q, t, key);
	else
		buf_puts(&q->sql, "''");
	buf_printf(&q->sql, " AS k FROM %s AS e", t->tab);
}

int arquery_pairs(const struct archive *a, const struct artype *const stage[2], arsql_row_fn fn,
		  void *arg, struct err *e)
{
	struct asked *q = ask_new(a, fn, arg);
	const char *key = guess_key(stage, 1);
	int rc;

	if (!q)
		return err_nomem(e);
	if (key && !has_field(stage[1], key))
		key = NULL;
	buf_puts(
		&q->sql,
		"SELECT ts - before AS duration_ns FROM (SELECT ts, stage, lag(ts) OVER w AS before, lag(stage) OVER w AS was FROM (");
	put_stage(q, stage[0], key, 0);
	buf_puts(&q->sql, " UNION ALL ");
	put_stage(q, stage[1], key, 1);
	buf_puts(
		&q->sql,
		") AS q WINDOW w AS (PARTITION BY s, k ORDER BY ts, id)) AS r WHERE stage = 1 AND was = 0");
	rc = run(q, e);
	ask_free(q);
	return rc;
}

int arquery_sql(const struct archive *a, const char *sql, arsql_row_fn fn, void *arg, struct err *e)
{
	const struct arsql *s = archive_sql(a);

	return s->ops->run(s->db, &(struct arsql_statement){ .text = sql }, fn, arg, e);
}
