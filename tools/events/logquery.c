/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of an archive, as tables or as JSON, an object a row. */
#include "common/json/json.h"
#include "common/base/str.h"
#include "eventlog/archive/arquery.h"
#include "tools/term/say.h"
#include "tools/events/logarchive.h"
#include "tools/events/logplace.h"
#include "tools/term/table.h"
#include "tools/term/term.h"

#include <inttypes.h>
#include <unistd.h>

#define ROWS_SHOWN 10000 /* rows of a table, which is in memory; --json writes all rows */
#define SENTENCE_BYTES (64 * 1024)

struct answer {
	const struct logarchive_options *options;
	struct table *table; /* a table with the columns of the present rows */
	char **head; /* owned copies */
	unsigned columns;
	uint64_t rows;
	struct buf out;
};

static bool is_named(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && str_eq(name + n - k, end);
}

/* --- JSON */

static void put_json(struct json *j, const char *name, const struct arvalue *v)
{
	char hex[17];

	json_key(j, name);
	if (v->class == AR_INT && str_eq(name, "stream")) {
		snprintf(hex, sizeof(hex), "%016" PRIx64, (uint64_t)v->i);
		json_str(j, hex);
	} else if (v->class == AR_INT) {
		json_i64(j, v->i);
	} else if (v->class == AR_REAL) {
		json_double(j, v->r);
	} else if (v->class == AR_NULL) {
		json_null(j);
	} else {
		json_str_n(j, v->s, v->n);
	}
}

/* A key with invalid UTF-8 would not be JSON: it is escaped. */
static int row_as_json(struct answer *a, const struct arvalue *v, const char *const *names,
		       unsigned n, struct err *e)
{
	char key[4 * NAME_MAX_BYTES + 1];
	struct json j;

	buf_clear(&a->out);
	json_init(&j, &a->out);
	json_object(&j);
	for (unsigned i = 0; i < n; i++) {
		/* A field with values of several classes has a column for each, and one value. */
		bool is_other_class = v[i].class == AR_NULL && !a->options->sql;
		bool is_text = str_is_utf8(names[i], strlen(names[i]));

		if (!is_other_class)
			put_json(&j, is_text ? names[i] : str_show(key, sizeof(key), names[i]),
				 &v[i]);
	}
	json_object_end(&j);
	if (json_end(&j))
		return err_nomem(e);
	return printf("%s\n", buf_str(&a->out)) < 0 ? err_sys(e, "standard output") : 0;
}

/* --- tables */

static void put_cell(struct table *t, const char *name, const struct arvalue *v)
{
	char text[CLOCK_TEXT_BYTES], number[STR_DOUBLE_BYTES];

	if (v->class == AR_NULL)
		table_cell(t, "-");
	else if (v->class == AR_INT && str_eq(name, "duration_ns"))
		table_cell(t, "%.6f s", (double)v->i / 1e9);
	else if (v->class == AR_INT && is_named(name, "_ns"))
		table_cell(t, "%s", clock_format_rfc3339(text, v->i, 6));
	else if (v->class == AR_INT && str_eq(name, "stream"))
		table_cell(t, "%016" PRIx64, (uint64_t)v->i);
	else if (v->class == AR_INT)
		table_cell(t, "%" PRId64, v->i);
	else if (v->class == AR_REAL)
		table_cell(t, "%s", str_from_double(number, v->r));
	else
		table_cell(t, "%.*s", (int)(v->n < 4096 ? v->n : 4096), v->s);
}

static void end_table(struct answer *a)
{
	if (a->table) {
		buf_clear(&a->out);
		if (table_print(a->table, 0, &a->out))
			cmd_warn("out of memory");
		fwrite(a->out.p, 1, a->out.n, stdout);
		if (a->rows > ROWS_SHOWN)
			cmd_warn("%" PRIu64 " rows more; --json shows all", a->rows - ROWS_SHOWN);
	}
	table_free(a->table);
	for (unsigned i = 0; i < a->columns; i++)
		free(a->head[i]);
	free(a->head);
	a->table = NULL;
	a->head = NULL;
	a->columns = 0;
	a->rows = 0;
}

/* Removes the suffix _ns from the heads of times, which are shown as text. */
static size_t head_length(const char *name)
{
	return strlen(name) - (is_named(name, "_ns") ? 3 : 0);
}

static bool is_same_table(const struct answer *a, const char *const *names, unsigned n)
{
	if (!a->table || a->columns != n)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (strlen(a->head[i]) != head_length(names[i]) ||
		    strncmp(a->head[i], names[i], head_length(names[i])))
			return false;
	return true;
}

static int begin_table(struct answer *a, const struct arvalue *v, const char *const *names,
		       unsigned n, struct err *e)
{
	char *align = calloc(n + 1, 1);
	bool is_whole = align != NULL;

	end_table(a);
	a->head = calloc(n, sizeof(*a->head));
	a->columns = a->head ? n : 0;
	for (unsigned i = 0; is_whole && i < a->columns; i++) {
		bool is_number = v[i].class == AR_INT || v[i].class == AR_REAL;

		align[i] = is_number && !str_eq(names[i], "stream") &&
					   !(is_named(names[i], "_ns") &&
					     !str_eq(names[i], "duration_ns"))
				   ? 'r'
				   : 'l';
		a->head[i] = str_ndup(names[i], head_length(names[i]));
		is_whole = a->head[i];
	}
	if (is_whole && a->head)
		a->table = table_new(n, (const char *const *)a->head, align);
	free(align);
	return a->table ? 0 : err_nomem(e);
}

static int take_row(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		    struct err *e)
{
	struct answer *a = arg;
	int rc = 0;

	if (a->options->json)
		return row_as_json(a, v, names, n, e);
	if (!is_same_table(a, names, n))
		rc = begin_table(a, v, names, n, e);
	if (rc || ++a->rows > ROWS_SHOWN)
		return rc;
	for (unsigned i = 0; i < n; i++)
		put_cell(a->table, names[i], &v[i]);
	return 0;
}

/* --- the question */

/* Joins the words of the command line into one sentence. */
static int join(char **words, struct buf *out)
{
	for (char **w = words; *w; w++) {
		buf_puts(out, w == words ? "" : " ");
		buf_puts(out, *w);
	}
	return out->failed ? cmd_fail(CMD_USAGE, "the question is too long") : CMD_OK;
}

static int ask(struct answer *a, const struct archive *from, const char *sentence)
{
	const struct logarchive_options *w = a->options;
	struct err e = { 0 };
	int rc = w->sql ? arquery_sql(from, w->sql, take_row, a, &e)
			: arquery_run(from, sentence, take_row, a, &e);

	end_table(a);
	if (!rc)
		return fflush(stdout) ? cmd_fail(CMD_FAILURE, "standard output: %m") : CMD_OK;
	if (e.code == ERR_PARSE || (e.code == ERR_INVALID && w->sql))
		return cmd_fail(CMD_USAGE, "'%s' %s", w->sql ? w->sql : sentence, e.text);
	return logplace_fail(w->archive, &e);
}

int logarchive_query(const struct logarchive_options *w, char **words)
{
	struct answer a = { .options = w, .out = BUF_INIT(256u << 20) };
	struct buf sentence = BUF_INIT(SENTENCE_BYTES);
	struct archive *from = NULL;
	struct err e = { 0 };
	int rc = join(words, &sentence);

	if (rc == CMD_OK && archive_open(w->archive, AR_READ, w->timeout_ns, &from, &e))
		rc = logplace_fail(w->archive, &e);
	if (rc == CMD_OK)
		rc = ask(&a, from, buf_str(&sentence));
	archive_close(from);
	buf_done(&sentence);
	buf_done(&a.out);
	return rc;
}
