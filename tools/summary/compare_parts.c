/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary/compare_parts.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/summary/summary_text.h"
#include "tools/term/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_BYTES (2 * SUMMARY_TEXT_BYTES + 32)

bool compare_has_parts(const struct summary *s, enum compare_by by)
{
	return by == COMPARE_BY_SIZE ? s->has_sizes : by == COMPARE_BY_SITE && s->has_sites;
}

/* --- rows */

static bool is_same(const struct compare_part *a, const struct compare_part *b)
{
	return a->from == b->from && a->to == b->to && str_eq(a->name, b->name) &&
	       str_eq(a->function, b->function) && str_eq(a->file, b->file);
}

/* Adds the values of one side to the row with that key. */
static int add(struct compare_parts *p, const struct compare_part *v, int side)
{
	struct compare_part *to = NULL;

	for (size_t i = 0; !to && i < p->n; i++)
		if (is_same(&p->part[i], v))
			to = &p->part[i];
	if (!to) {
		int rc =
			array_grow(&p->part, &p->cap, p->n + 1, sizeof(*to), 2 * SUMMARY_SITES_MAX);

		if (rc)
			return rc;
		to = &p->part[p->n++];
		*to = *v;
		return 0;
	}
	to->line[side] = to->count[side] ? 0 : v->line[side];
	to->count[side] += v->count[side];
	to->bytes[side] += v->bytes[side];
	to->seconds[side] += v->seconds[side];
	return 0;
}

static double of_rank(double seconds, const struct summary_whole *all)
{
	return all->ranks ? seconds / (double)all->ranks : seconds;
}

static int add_sizes(struct compare_parts *p, const struct summary *s, int side)
{
	const struct summary_whole all = summary_whole(s);
	int rc = 0;

	for (size_t i = 0; !rc && i < s->nsize; i++) {
		const struct summary_size *v = &s->size[i];
		struct compare_part part = { .from = v->from, .to = v->to };

		str_copy(part.name, sizeof(part.name), v->name);
		part.count[side] = v->count;
		part.bytes[side] = v->bytes;
		part.seconds[side] = of_rank(v->seconds, &all);
		rc = add(p, &part, side);
	}
	return rc;
}

/* "halo.c:41" is a file and a line. */
static void split_source(struct compare_part *to, const char *source, int side)
{
	const char *colon = strrchr(source, ':');
	int64_t line = 0;

	str_copy(to->file, sizeof(to->file), source);
	if (!colon || str_to_i64(colon + 1, 1, INT32_MAX, &line))
		return;
	to->file[colon - source] = '\0';
	to->line[side] = line;
}

static int add_sites(struct compare_parts *p, const struct summary *s, int side)
{
	const struct summary_whole all = summary_whole(s);
	int rc = 0;

	for (size_t i = 0; !rc && i < s->nsite; i++) {
		const struct summary_site *v = &s->site[i];
		struct compare_part part = { .from = 0 };
		struct buf place = BUF_INIT(PLACE_BYTES);

		str_copy(part.name, sizeof(part.name), v->name);
		str_copy(part.function, sizeof(part.function), v->function);
		summary_place(v, &place);
		split_source(&part, v->function[0] || v->source[0] ? v->source : buf_str(&place),
			     side);
		buf_done(&place);
		part.count[side] = v->count;
		part.bytes[side] = v->bytes_out + v->bytes_in;
		part.seconds[side] = of_rank(v->seconds, &all);
		rc = add(p, &part, side);
	}
	return rc;
}

static double change_of(const struct compare_part *v)
{
	return v->seconds[1] - v->seconds[0];
}

static int by_change(const void *pa, const void *pb)
{
	const struct compare_part *a = pa, *b = pb;
	double of_a = fabs(change_of(a)), of_b = fabs(change_of(b));
	int d = strcmp(a->name, b->name);

	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	d = d ? d : strcmp(a->function, b->function);
	d = d ? d : strcmp(a->file, b->file);
	return d ? d : (a->from > b->from) - (a->from < b->from);
}

int compare_parts(const struct summary *a, const struct summary *b, enum compare_by by,
		  struct compare_parts *out)
{
	int (*add_all)(struct compare_parts * p, const struct summary *s, int side) =
		by == COMPARE_BY_SIZE ? add_sizes : add_sites;
	int rc;

	*out = (struct compare_parts){ .by = by };
	rc = add_all(out, a, 0);
	rc = rc ? rc : add_all(out, b, 1);
	if (rc)
		compare_parts_done(out);
	else if (out->n > 1)
		qsort(out->part, out->n, sizeof(*out->part), by_change);
	return rc;
}

void compare_parts_done(struct compare_parts *p)
{
	free(p->part);
	*p = (struct compare_parts){ .by = p->by };
}

/* --- a table */

static int64_t line_of(const struct compare_part *v)
{
	return v->line[1] ? v->line[1] : v->count[1] ? 0 : v->line[0];
}

/* Puts the size or place of a row, beside its call. */
static void put_what(const struct compare_parts *p, const struct compare_part *v, struct buf *out)
{
	if (p->by == COMPARE_BY_SIZE) {
		table_sizes(out, v->from, v->to);
		return;
	}
	buf_printf(out, "%s%s%s", v->function, v->function[0] && v->file[0] ? " " : "", v->file);
	if (line_of(v))
		buf_printf(out, ":%" PRId64, line_of(v));
}

static double percent(double v, double of)
{
	return of > 0 ? 100 * v / of : NAN;
}

static void put_both(struct table *t, char *(*text)(char *, double), const double v[2])
{
	char of[TABLE_QUANTITY_BYTES];

	table_cell(t, "%s", text(of, v[1]));
	table_cell(t, "%s", text(of, v[0]));
}

/* Returns NaN for a side without calls. */
static double known(const struct compare_part *v, int side, double value)
{
	return v->count[side] ? value : (double)NAN;
}

static void put_row(const struct compare_parts *p, struct table *t, const struct compare_part *v)
{
	struct buf what = BUF_INIT(PLACE_BYTES);
	double difference =
		v->count[0] && v->count[1] ? percent(change_of(v), v->seconds[0]) : (double)NAN;
	double seconds[2], mean[2], count[2], bytes[2];

	for (int k = 0; k < 2; k++) {
		seconds[k] = known(v, k, v->seconds[k]);
		count[k] = known(v, k, (double)v->count[k]);
		bytes[k] = known(v, k, (double)v->bytes[k]);
		mean[k] = known(v, k, (double)v->bytes[k] / (double)v->count[k]);
	}
	put_what(p, v, &what);
	table_cell(t, "%s", v->name);
	table_cell(t, "%s", buf_str(&what));
	put_both(t, summary_seconds, seconds);
	if (isnan(difference))
		table_cell(t, "%s", v->count[1] ? v->count[0] ? "-" : "new" : "gone");
	else
		table_cell(t, "%+.1f %%", difference);
	put_both(t, table_count, count);
	put_both(t, table_bytes, p->by == COMPARE_BY_SIZE ? bytes : mean);
	buf_done(&what);
}

int compare_parts_table(const struct compare_parts *p, size_t rows, struct buf *out)
{
	bool is_size = p->by == COMPARE_BY_SIZE;
	const char *const heads[] = {
		"CALL", is_size ? "SIZE" : "CALLED IN", "TIME", "WAS", "DIFF", "CALLS",
		"WAS",	is_size ? "BYTES" : "SIZE",	"WAS"
	};
	struct table *t;
	size_t n = rows && rows < p->n ? rows : p->n;
	int rc;

	if (!p->n)
		return 0;
	buf_printf(out, "%s, seconds of a rank (no intervals: one sum of each)\n",
		   is_size ? "Calls by the size of their messages" : "Call sites");
	t = table_new(ARRAY_LEN(heads), heads, "llrrrrrrr");
	for (size_t i = 0; t && i < n; i++)
		put_row(p, t, &p->part[i]);
	rc = table_end(t, 0, out);
	if (!rc && n < p->n)
		buf_printf(out, "and %zu more (--by %s)\n", p->n - n, is_size ? "size" : "site");
	return rc;
}

/* --- for programs */

static void csv_number(struct buf *out, double v)
{
	char text[STR_DOUBLE_BYTES];

	buf_printf(out, ",%s", str_from_double(text, v));
}

static void csv_key(const struct compare_parts *p, const struct compare_part *v, struct buf *out)
{
	report_csv_text(v->name, out);
	buf_putc(out, ',');
	if (p->by == COMPARE_BY_SIZE) {
		buf_printf(out, "%" PRId64 ",", v->from);
		if (v->to >= 0)
			buf_printf(out, "%" PRId64, v->to);
		return;
	}
	report_csv_text(v->function, out);
	buf_putc(out, ',');
	report_csv_text(v->file, out);
	for (int k = 1; k >= 0; k--) {
		buf_putc(out, ',');
		if (v->line[k])
			buf_printf(out, "%" PRId64, v->line[k]);
	}
}

void compare_parts_csv(const struct compare_parts *p, struct buf *out)
{
	buf_printf(out, "call,%s,seconds,seconds_base,calls,calls_base,bytes,bytes_base\n",
		   p->by == COMPARE_BY_SIZE ? "bytes_from,bytes_to"
					    : "function,file,line,line_base");
	for (size_t i = 0; i < p->n; i++) {
		const struct compare_part *v = &p->part[i];

		csv_key(p, v, out);
		csv_number(out, v->seconds[1]);
		csv_number(out, v->seconds[0]);
		buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", v->count[1],
			   v->count[0], v->bytes[1], v->bytes[0]);
	}
}

static void json_some(struct json *j, const char *key, int64_t v, bool is_known)
{
	json_key(j, key);
	if (is_known)
		json_i64(j, v);
	else
		json_null(j);
}

static void json_site(struct json *j, const struct compare_part *v)
{
	json_key_str(j, "function", v->function[0] ? v->function : NULL);
	json_key_str(j, "file", v->file[0] ? v->file : NULL);
	json_some(j, "line", v->line[1], v->line[1] > 0);
	json_some(j, "line_base", v->line[0], v->line[0] > 0);
}

void compare_parts_json(const struct compare_parts *p, struct json *j)
{
	json_array(j);
	for (size_t i = 0; i < p->n; i++) {
		const struct compare_part *v = &p->part[i];

		json_object(j);
		json_key_str(j, "call", v->name);
		if (p->by == COMPARE_BY_SIZE) {
			json_key_i64(j, "bytes_from", v->from);
			json_some(j, "bytes_to", v->to, v->to >= 0);
		} else {
			json_site(j, v);
		}
		json_key_double(j, "seconds", v->seconds[1]);
		json_key_double(j, "seconds_base", v->seconds[0]);
		json_key_u64(j, "calls", v->count[1]);
		json_key_u64(j, "calls_base", v->count[0]);
		json_key_u64(j, "bytes", v->bytes[1]);
		json_key_u64(j, "bytes_base", v->bytes[0]);
		json_object_end(j);
	}
	json_array_end(j);
}
