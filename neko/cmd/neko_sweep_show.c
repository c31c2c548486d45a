/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a sweep: a row for each run, a column for each quantity. */
#include "neko/cmd/neko_sweep.h"

#include "common/base/str.h"
#include "common/json/json.h"
#include "tools/term/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX (NEKO_SWEEP_KEYS_MAX + STAT_QUANTITIES_MAX + 1)
#define HEAD_BYTES 160

const char *neko_sweep_end(const struct run_counts *f)
{
	if (f->is_interrupted)
		return "interrupted";
	if (f->missing)
		return "processes missing";
	if (f->is_cut)
		return "deadline";
	if (f->is_left)
		return "ended by a layer";
	return f->is_stopped ? "stop rule" : "end of the run's time";
}

static size_t count_done(const struct neko_sweep *s, bool *is_partial)
{
	size_t n = 0, points = neko_sweep_points(s);

	*is_partial = false;
	for (size_t i = 0; s->row && i < points; i++) {
		n += s->row[i].is_done;
		*is_partial |=
			s->row[i].is_done && (s->row[i].counts.is_cut || s->row[i].counts.missing);
	}
	*is_partial |= n < points;
	return n;
}

/*
 * Returns the largest number of quantities of a row. All runs of a sweep have the same quantities,
 * in one order.
 */
static size_t most_cells(const struct neko_sweep *s, const struct neko_sweep_row **out)
{
	size_t n = 0, points = neko_sweep_points(s);

	*out = NULL;
	for (size_t i = 0; s->row && i < points; i++)
		if (s->row[i].is_done && (!*out || s->row[i].n > n)) {
			*out = &s->row[i];
			n = s->row[i].n;
		}
	return n;
}

static const struct neko_sweep_cell *cell_of(const struct neko_sweep_row *row, const char *name)
{
	for (size_t i = 0; i < row->n; i++)
		if (str_eq(row->cell[i].name, name))
			return &row->cell[i];
	return NULL;
}

static bool has_values(const struct neko_sweep *s, const char *name)
{
	size_t points = neko_sweep_points(s);

	for (size_t i = 0; i < points; i++) {
		const struct neko_sweep_cell *c =
			s->row[i].is_done ? cell_of(&s->row[i], name) : NULL;

		if (c && c->n)
			return true;
	}
	return false;
}

static void add_cell(struct table *t, const struct neko_sweep_cell *c)
{
	if (!c || !c->n)
		table_cell(t, "-");
	else if (isfinite(c->half))
		table_cell(t, "%.5g +- %.2g", c->mean, c->half);
	else
		table_cell(t, "%.5g +- -", c->mean); /* one value has no interval */
}

/* Names of columns: keys, quantities with values, reason of the end. */
struct heads {
	char text[COLUMNS_MAX][HEAD_BYTES];
	const char *head[COLUMNS_MAX];
	const char *name[COLUMNS_MAX]; /* name of a quantity; NULL: another column */
	char align[COLUMNS_MAX + 1];
	size_t n;
};

static void add_head(struct heads *h, char align, const char *name, const char *text)
{
	str_copy(h->text[h->n], HEAD_BYTES, text);
	h->head[h->n] = h->text[h->n];
	h->name[h->n] = name;
	h->align[h->n++] = align;
}

static void make_heads(struct heads *h, const struct neko_sweep *s, bool with_end)
{
	const struct neko_sweep_row *most;
	size_t n = most_cells(s, &most);
	char text[HEAD_BYTES];

	memset(h, 0, sizeof(*h));
	for (unsigned i = 0; i < s->n; i++)
		add_head(h, 'l', NULL, s->key[i].key);
	for (size_t i = 0; i < n; i++) {
		const struct neko_sweep_cell *c = &most->cell[i];

		if (!has_values(s, c->name))
			continue;
		snprintf(text, sizeof(text), *c->unit ? "%s (%s)" : "%s", c->name, c->unit);
		add_head(h, 'r', c->name, text);
	}
	if (with_end)
		add_head(h, 'l', NULL, "END");
}

static void add_row(struct table *t, const struct neko_sweep *s, size_t point,
		    const struct heads *h)
{
	const struct neko_sweep_row *row = &s->row[point];

	for (size_t i = 0; i < h->n; i++)
		if (i < s->n)
			table_cell(t, "%s", neko_sweep_value(s, point, (unsigned)i));
		else if (h->name[i])
			add_cell(t, cell_of(row, h->name[i]));
		else
			table_cell(t, "%s", neko_sweep_end(&row->counts));
}

void neko_sweep_text(struct buf *b, const struct neko_sweep *s)
{
	size_t points = neko_sweep_points(s);
	struct heads h;
	struct table *t;
	bool is_partial;
	size_t done = count_done(s, &is_partial);

	buf_printf(b, "%zu of %zu runs%s; means +- 95 %%\n", done, points,
		   is_partial ? ": partial results" : "");
	if (!done)
		return;
	make_heads(&h, s, is_partial);
	t = table_new(h.n, h.head, h.align);
	for (size_t i = 0; t && i < points; i++)
		if (s->row[i].is_done)
			add_row(t, s, i, &h);
	if (table_end(t, 0, b))
		b->failed = true;
}

/* --- CSV: a line for each quantity of each run */

static void put_field(struct buf *b, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		buf_puts(b, text);
		return;
	}
	buf_putc(b, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(b, '"');
		buf_putc(b, *text);
	}
	buf_putc(b, '"');
}

/* Writes nothing for an unknown value. */
static void put_number(struct buf *b, double v)
{
	if (isfinite(v))
		buf_printf(b, ",%.17g", v);
	else
		buf_putc(b, ',');
}

void neko_sweep_csv(struct buf *b, const struct neko_sweep *s)
{
	size_t points = neko_sweep_points(s);

	for (unsigned i = 0; i < s->n; i++) {
		put_field(b, s->key[i].key);
		buf_putc(b, ',');
	}
	buf_puts(b, "quantity,unit,n,mean,half_95,deviation,min,max,end\n");
	for (size_t p = 0; s->row && p < points; p++)
		for (size_t i = 0; i < s->row[p].n; i++) {
			const struct neko_sweep_cell *c = &s->row[p].cell[i];

			for (unsigned k = 0; k < s->n; k++) {
				put_field(b, neko_sweep_value(s, p, k));
				buf_putc(b, ',');
			}
			put_field(b, c->name);
			buf_printf(b, ",%s,%" PRIu64, c->unit, c->n);
			put_number(b, c->n ? c->mean : NAN);
			put_number(b, c->half);
			put_number(b, c->deviation);
			put_number(b, c->min);
			put_number(b, c->max);
			buf_printf(b, ",%s\n", neko_sweep_end(&s->row[p].counts));
		}
}

/* --- JSON */

static void put_cell(struct json *j, const struct neko_sweep_cell *c)
{
	json_object(j);
	json_key_str(j, "name", c->name);
	json_key_str(j, "unit", c->unit);
	json_key_u64(j, "n", c->n);
	json_key_double(j, "mean", c->n ? c->mean : NAN);
	json_key_double(j, "half_95", c->half);
	json_key_double(j, "deviation", c->deviation);
	json_key_double(j, "min", c->min);
	json_key_double(j, "max", c->max);
	json_object_end(j);
}

static void put_point(struct json *j, const struct neko_sweep *s, size_t point)
{
	const struct neko_sweep_row *row = &s->row[point];

	json_object(j);
	json_key(j, "set");
	json_object(j);
	for (unsigned i = 0; i < s->n; i++)
		json_key_str(j, s->key[i].key, neko_sweep_value(s, point, i));
	json_object_end(j);
	json_key_u64(j, "seed", row->counts.seed);
	json_key_u64(j, "runs", row->counts.runs);
	json_key_str(j, "end", neko_sweep_end(&row->counts));
	json_key_bool(j, "partial", row->counts.is_cut || row->counts.missing);
	json_key(j, "quantities");
	json_array(j);
	for (size_t i = 0; i < row->n; i++)
		put_cell(j, &row->cell[i]);
	json_array_end(j);
	json_object_end(j);
}

void neko_sweep_json(struct buf *b, const struct neko_sweep *s, const char *path)
{
	size_t points = neko_sweep_points(s);
	bool is_partial;
	size_t done = count_done(s, &is_partial);
	struct json j;

	json_init(&j, b);
	json_object(&j);
	json_key_str(&j, "configuration", path);
	json_key_u64(&j, "points", points);
	json_key_u64(&j, "done", done);
	json_key_bool(&j, "partial", is_partial);
	json_key_array(&j, "keys");
	for (unsigned i = 0; i < s->n; i++)
		json_str(&j, s->key[i].key);
	json_array_end(&j);
	json_key(&j, "sweep");
	json_array(&j);
	for (size_t i = 0; s->row && i < points; i++)
		if (s->row[i].is_done)
			put_point(&j, s, i);
	json_array_end(&j);
	json_object_end(&j);
	if (json_end(&j))
		b->failed = true;
	buf_putc(b, '\n');
}
