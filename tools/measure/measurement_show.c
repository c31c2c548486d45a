/* SPDX-License-Identifier: Apache-2.0 */
/* Prints reads of a measurement as a table, lines, CSV or JSON, with coverage and flags. */
#include "tools/measure/measurement.h"

#include "common/base/str.h"
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/measure/charts.h"
#include "tools/session/show.h"
#include "tools/term/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SCREEN_MAX_BYTES (16 << 20)
#define LABEL_BYTES MEASURED_LABEL_BYTES

static const char *print_time(char out[CLOCK_TEXT_BYTES], int64_t ns)
{
	return clock_format_rfc3339(out, ns, 3);
}

/* Prints "12 of 0..4, 3 of 4..8": the buckets of a histogram. */
static void print_buckets(const Omis_value *list, struct buf *b)
{
	for (size_t i = 0; i < list->n; i++)
		buf_printf(b, "%s%" PRId64 "x[%.4g,%.4g]", i ? " " : "",
			   value_int(&list->list[i], 2), value_float(&list->list[i], 0),
			   value_float(&list->list[i], 1));
}

/* --- one line per value */

static void put_line(struct measurement *m, int64_t read, const struct measured *s, struct buf *out)
{
	char label[LABEL_BYTES], when[CLOCK_TEXT_BYTES], value[TABLE_QUANTITY_BYTES];

	measurement_label_of(m, s, label, sizeof(label));
	buf_printf(out, "%s %" PRId64 " %s ", print_time(when, s->time), read, label);
	if (m->each_vt)
		buf_printf(out, "vt=%" PRId64 " ", s->key);
	if (s->buckets)
		print_buckets(s->buckets, out);
	else if (s->objects)
		measurement_put_objects(m, s->objects, out);
	else
		buf_puts(out, table_quantity(value, s->value, 4, m->unit));
	if (s->buckets)
		buf_printf(out, " %s", m->unit[0] ? m->unit : "1");
	if (s->error > 0)
		buf_printf(out, " +-%s", table_quantity(value, s->error, 2, m->unit));
	buf_printf(out, " %" PRId64 "/%" PRId64, s->k, s->n);
	if (s->flags[0])
		buf_printf(out, " %s", s->flags);
	buf_putc(out, '\n');
}

/* --- CSV */

/* A histogram is from:to:count of each bucket, in one cell. */
static void put_csv_buckets(const Omis_value *list, struct buf *out)
{
	struct buf text = BUF_INIT(SCREEN_MAX_BYTES);

	for (size_t i = 0; i < list->n; i++)
		buf_printf(&text, "%s%.17g:%.17g:%" PRId64, i ? " " : "",
			   value_float(&list->list[i], 0), value_float(&list->list[i], 1),
			   value_int(&list->list[i], 2));
	report_csv_text(buf_str(&text), out);
	buf_putc(out, ',');
	buf_done(&text);
}

static void put_csv_number(struct buf *out, double v)
{
	if (!isnan(v))
		buf_printf(out, "%.17g", v);
	buf_putc(out, ',');
}

static void put_csv(struct measurement *m, int64_t read, const struct measured *s, struct buf *out)
{
	char label[LABEL_BYTES];

	measurement_label_of(m, s, label, sizeof(label));
	buf_printf(out, "%" PRId64 ",%" PRId64 ",", read, s->time);
	report_csv_text(s->object, out);
	buf_putc(out, ',');
	report_csv_text(label, out);
	buf_putc(out, ',');
	if (m->each_vt)
		buf_printf(out, "%" PRId64, s->key);
	buf_putc(out, ',');
	if (s->buckets)
		put_csv_buckets(s->buckets, out);
	else if (s->objects)
		measurement_put_csv_objects(m, s->objects, out);
	else
		put_csv_number(out, s->value);
	report_csv_text(m->unit, out);
	buf_putc(out, ',');
	put_csv_number(out, s->error);
	buf_printf(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", s->k, s->n, s->oldest,
		   s->newest);
	report_csv_text(s->flags, out);
	if (m->options->each_partner || m->options->each_region) {
		buf_putc(out, ',');
		report_csv_text(s->with, out);
	}
	if (m->options->each_partner && m->options->each_region) {
		buf_putc(out, ',');
		report_csv_text(s->in, out);
	}
	buf_putc(out, '\n');
}

/* --- a table on a terminal */

static struct table *new_table(const struct measurement *m)
{
	static const char *const heads[] = { "OBJECT", "VALUE", "+-", "OF", "FLAGS" };
	static const char *const heads_vt[] = { "OBJECT", "VT", "VALUE", "+-", "OF", "FLAGS" };

	return m->each_vt ? table_new(6, heads_vt, "lrrrrl") : table_new(5, heads, "lrrrl");
}

/* Bound, coverage and flags end each row. */
static void put_row_end(const struct measurement *m, const struct measured *s, struct table *t)
{
	char error[TABLE_QUANTITY_BYTES] = "";

	table_cell(t, "%s", s->error > 0 ? table_quantity(error, s->error, 2, m->unit) : "");
	table_cell(t, "%" PRId64 "/%" PRId64, s->k, s->n);
	table_cell(t, "%s", s->flags);
}

/* Puts the buckets and their counts below the row of all. */
static void put_bucket_rows(const struct measurement *m, const Omis_value *list, struct table *t)
{
	for (size_t i = 0; i < list->n; i++) {
		table_cell(t, "  %.4g .. %.4g %s", value_float(&list->list[i], 0),
			   value_float(&list->list[i], 1), m->unit);
		if (m->each_vt)
			table_cell(t, "%s", "");
		table_cell(t, "%" PRId64, value_int(&list->list[i], 2));
		for (unsigned k = 0; k < 3; k++)
			table_cell(t, "%s", "");
	}
}

static int64_t count_of(const Omis_value *buckets)
{
	int64_t n = 0;

	for (size_t i = 0; i < buckets->n; i++)
		n += value_int(&buckets->list[i], 2);
	return n;
}

static void put_row(struct measurement *m, const struct measured *s, struct table *t)
{
	char label[LABEL_BYTES], value[TABLE_QUANTITY_BYTES];

	measurement_label_of(m, s, label, sizeof(label));
	table_cell(t, "%s", label);
	if (m->each_vt)
		table_cell(t, "%" PRId64, s->key);
	if (s->buckets)
		table_cell(t, "%" PRId64 " values", count_of(s->buckets));
	else
		table_cell(t, "%s", table_quantity(value, s->value, 4, m->unit));
	put_row_end(m, s, t);
	if (s->buckets)
		put_bucket_rows(m, s->buckets, t);
	if (s->objects)
		measurement_put_object_rows(m, s->objects, t);
}

static void put_title(const struct measurement *m, const struct reading *r, struct buf *out)
{
	char when[CLOCK_TEXT_BYTES];

	buf_printf(out, "\033[H\033[J%somig measure %s%s  %s  read %" PRId64 "  %s%s  (q quit)\n\n",
		   term_paint(&m->term, TERM_BOLD), m->options->metric,
		   term_paint(&m->term, TERM_PLAIN),
		   print_time(when, value_int(r->part[0], READ_UNTIL)), reading_number(r),
		   m->since_last ? "since the last read" : "since the start",
		   m->options->rate ? ", per second" : "");
	measurement_progress(m, out);
	measurement_put_since(m, out);
}

/* --- a read */

/* Returns the bytes of an escape sequence or of one character. *cols: the columns that it fills. */
static size_t step_of(const char *at, const char *end, size_t *cols)
{
	size_t n = 1;

	*cols = *at != '\033';
	if (*cols) {
		while (at + n < end && ((unsigned char)at[n] & 0xc0) == 0x80)
			n++;
		return n;
	}
	while (at + n < end && !(at[n] >= 'A' && at[n] <= 'Z') && !(at[n] >= 'a' && at[n] <= 'z'))
		n++;
	return at + n < end ? n + 1 : n;
}

/*
 * Puts one line of a screen, cut at the width. Escapes after the cut remain. Returns the text after
 * the line.
 */
static const char *put_cut_line(const char *at, const char *end, size_t width, struct buf *out)
{
	size_t seen = 0, cols, n;

	while (at < end && *at != '\n') {
		n = step_of(at, end, &cols);
		if (!cols || seen < width)
			buf_put(out, at, n);
		seen += cols;
		at += n;
	}
	buf_putc(out, '\n');
	return at + (at < end);
}

/*
 * Cuts the text to the screen: a wrapped line, or one line more, would scroll the title off the
 * screen.
 */
static void put_screen(const struct term *term, const struct buf *text, struct buf *out)
{
	const char *at = buf_str(text), *end = at + text->n;
	size_t rows = term->rows > 1 ? term->rows - 1 : 1, left = 0;

	for (size_t row = 0; at < end && row < rows; row++) {
		for (const char *p = at; row + 1 == rows && p < end; p++)
			left += *p == '\n';
		if (left > 1) {
			buf_printf(out, "... %zu more\n", left);
			return;
		}
		at = put_cut_line(at, end, term->cols, out);
	}
}

static void note_coverage(struct measurement *m, const struct measured *s)
{
	m->is_partial |= s->k < s->n || (isnan(s->value) && !s->buckets);
}

static void put_one(struct measurement *m, int64_t read, const struct measured *s, struct buf *out,
		    struct table *t)
{
	if (t)
		put_row(m, s, t);
	else if (m->options->csv)
		put_csv(m, read, s, out);
	else
		put_line(m, read, s, out);
}

/* Destination of the values of a read. */
struct page {
	struct measurement *m;
	const struct reading *r;
	struct buf *out;
	struct table *t; /* NULL: lines or CSV into out */
	size_t n, zeros; /* values; pairs that are 0, which tables do not show */
};

/* Shows a read in which no object has a value yet. */
static void put_no_objects(const struct page *p)
{
	int64_t until = value_int(p->r->part[0], READ_UNTIL);
	struct measured none = { .object = "",
				 .with = "",
				 .in = "",
				 .key = value_int(p->r->part[0], READ_NUMBER),
				 .value = NAN,
				 .time = until,
				 .oldest = until,
				 .newest = until };

	str_copy(none.flags, sizeof(none.flags), p->r->is_cut ? "missing,lost" : "missing");
	put_one(p->m, reading_number(p->r), &none, p->out, p->t);
}

static void put_value(void *arg, const struct measured *v)
{
	struct page *p = arg;
	bool is_pair = p->m->options->each_partner && !p->m->options->csv && v->with[0];

	p->n++;
	note_coverage(p->m, v);
	if (is_pair && !v->buckets && fpclassify(v->value) == FP_ZERO && v->k == v->n &&
	    !v->flags[0])
		p->zeros++;
	else
		put_one(p->m, reading_number(p->r), v, p->out, p->t);
}

/* Returns the number of pairs that are 0. */
static size_t each_value(struct measurement *m, const struct reading *r, struct buf *out,
			 struct table *t)
{
	struct page p = { .m = m, .r = r, .out = out, .t = t };

	measurement_each(m, r, put_value, &p);
	/* With a value for each virtual time, a read without values is normal. */
	if (!p.n && !m->each_vt)
		put_no_objects(&p);
	return p.zeros;
}

static void put_zeros(size_t zeros, struct buf *out)
{
	if (zeros)
		buf_printf(out, "%zu more pair%s: 0\n", zeros, zeros == 1 ? "" : "s");
}

static void show_live(struct measurement *m, const struct reading *r, struct buf *out)
{
	struct buf text = BUF_INIT(SCREEN_MAX_BYTES);
	struct table *t = new_table(m);

	put_title(m, r, &text);
	if (t) {
		size_t zeros = each_value(m, r, NULL, t);

		table_print(t, 0, &text);
		put_zeros(zeros, &text);
	}
	table_free(t);
	put_screen(&m->term, &text, out);
	buf_done(&text);
}

static int64_t lost_of(const struct reading *r)
{
	return value_int(r->part[r->npart - 1], READ_LOST);
}

static void note_value(void *arg, const struct measured *v)
{
	note_coverage(arg, v);
}

/* Columns and rows of a picture that is not a screen. */
#define PICTURE_COLS 80
#define PICTURE_ROWS 20

bool measurement_show_charts(struct measurement *m)
{
	struct grid_area size = { 0, 0, PICTURE_ROWS, PICTURE_COLS };
	struct buf out = BUF_INIT(SCREEN_MAX_BYTES);
	bool is_read;

	if (m->term.is_tty)
		size.cols = m->term.cols;
	if (m->term.is_raw) {
		size.rows = m->term.rows > 1 ? m->term.rows - 1 : 1;
		buf_puts(&out, "\033[H\033[J");
	}
	if (charts_draw(m->charts, m, size, &out))
		cmd_warn("no memory for the picture");
	fwrite(out.p, 1, out.n, stdout);
	is_read = fflush(stdout) == 0;
	buf_done(&out);
	return is_read;
}

/* If the output is not a terminal, one picture is written at the end. */
static bool put_charts(struct measurement *m, const struct reading *r)
{
	measurement_each(m, r, note_value, m);
	if (charts_add(m->charts, m, r))
		cmd_warn("no memory for a read");
	return !m->term.is_raw || charts_is_frozen(m->charts) || measurement_show_charts(m);
}

static bool put_text(struct measurement *m, const struct reading *r)
{
	struct buf out = BUF_INIT(SCREEN_MAX_BYTES);
	bool is_read;

	if (m->options->csv && !m->shown)
		buf_printf(
			&out,
			"read,time_ns,object,label,vt,value,unit,error,k,n,oldest_ns,newest_ns,flags%s\n",
			m->options->each_partner && m->options->each_region ? ",partner,region"
			: m->options->each_partner			    ? ",partner"
			: m->options->each_region			    ? ",region"
									    : "");
	if (!m->options->csv && !m->term.is_raw && !m->shown)
		measurement_put_since(m, &out);
	if (m->term.is_raw)
		show_live(m, r, &out);
	else
		put_zeros(each_value(m, r, &out, NULL), &out);
	if (lost_of(r))
		cmd_warn("%" PRId64 " values of read %" PRId64 " had no room", lost_of(r),
			 reading_number(r));
	fwrite(out.p, 1, out.n, stdout);
	is_read = fflush(stdout) == 0;
	buf_done(&out);
	return is_read;
}

/* --- JSON: an object a read */

static void json_number(struct json *j, double v)
{
	if (isfinite(v))
		json_double(j, v);
	else
		json_null(j);
}

static void flags_json(struct json *j, const char *flags)
{
	json_key_array(j, "flags");
	while (*flags) {
		size_t n = strcspn(flags, ",");

		json_str_n(j, flags, n);
		flags += n + (flags[n] == ',');
	}
	json_array_end(j);
}

static void value_json(const struct measurement *m, const struct measured *s, struct json *j)
{
	char label[LABEL_BYTES];

	measurement_label_of(m, s, label, sizeof(label));
	json_object(j);
	json_key_str(j, "object", s->object);
	json_key_str(j, "label", label);
	if (m->each_vt)
		json_key_i64(j, "vt", s->key);
	json_key(j, s->buckets ? "histogram" : "value");
	if (s->buckets)
		show_value_json(j, s->buckets);
	else
		json_number(j, s->value);
	json_key(j, "error");
	json_number(j, s->error);
	if (s->objects)
		measurement_objects_json(m, s->objects, j);
	json_key_i64(j, "k", s->k);
	json_key_i64(j, "n", s->n);
	json_key_i64(j, "time_ns", s->time);
	json_key_i64(j, "oldest_ns", s->oldest);
	json_key_i64(j, "newest_ns", s->newest);
	flags_json(j, s->flags);
	json_object_end(j);
}

struct document {
	struct measurement *m;
	struct json *j;
};

static void put_json_value(void *arg, const struct measured *v)
{
	const struct document *d = arg;

	note_coverage(d->m, v);
	value_json(d->m, v, d->j);
}

static bool put_json(struct measurement *m, const struct reading *r)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key_str(j, "metric", m->options->metric);
	json_key_str(j, "unit", m->unit);
	json_key_i64(j, "read", reading_number(r));
	json_key_i64(j, "until_ns", value_int(r->part[0], READ_UNTIL));
	json_key_i64(j, "gap_ns", r->gap_ns);
	json_key_i64(j, "lost", lost_of(r));
	json_key_i64(j, "attached", m->since.attached);
	json_key(j, "watched_since_ns");
	if (m->since.attached)
		json_i64(j, m->since.latest_ns);
	else
		json_null(j);
	json_key_array(j, "values");
	measurement_each(m, r, put_json_value, &(struct document){ m, j });
	json_array_end(j);
	json_object_end(j);
	return show_doc_next(&d) == CMD_OK;
}

/* False for a new object, whose name was not read yet. */
static bool is_name_known(const struct measurement *m, const char *token)
{
	struct object_name n;

	return !token[0] || (measurement_name(m, token, &n) && (token[0] != 'p' || n.rank >= 0));
}

/* False if the value, or one of its objects, is of a new object. */
static bool is_value_known(const struct measurement *m, const struct measured *s)
{
	for (size_t i = 0; s->objects && i < s->objects->n; i++)
		if (!is_name_known(m, value_text(&s->objects->list[i], 0)))
			return false;
	return is_name_known(m, s->object);
}

static bool is_known(const struct measurement *m, const struct reading *r)
{
	for (size_t p = 0; p < r->npart; p++)
		for (size_t i = READ_VALUES; i < r->part[p]->n; i++) {
			struct measured s = measured_at(r, p, i);

			if (!is_value_known(m, &s))
				return false;
		}
	return true;
}

/* Values of one object are adjacent. */
bool measurement_is_refused(const struct measurement *m, const struct reading *r)
{
	const char *before = NULL;
	int64_t objects = 0;

	for (size_t p = 0; p < r->npart && m->refused; p++)
		for (size_t i = READ_VALUES; i < r->part[p]->n; i++) {
			struct measured s = measured_at(r, p, i);

			if (s.k)
				return false;
			objects += before && str_eq(before, s.object) ? 0 : s.n;
			before = s.object;
		}
	return objects && (m->refused >= objects || m->refused >= MEASUREMENT_TROUBLES_MAX);
}

bool measurement_show(struct measurement *m, const struct reading *r)
{
	bool is_read;

	if (!is_known(m, r))
		measurement_poll_tree(m);
	m->is_partial = false;
	is_read = m->options->common.json ? put_json(m, r)
		  : m->charts		  ? put_charts(m, r)
					  : put_text(m, r);
	m->shown++;
	return is_read;
}
