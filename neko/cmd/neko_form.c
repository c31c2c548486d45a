/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_form.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "neko/cmd/neko_show.h"

#include <math.h>

/* The caller writes each value behind the separator of its column. */
struct column {
	struct buf *b;
	const char *between;
};

/* Names contain no control characters except these; R reads UTF-8. */
static void put_text(struct buf *b, const char *text)
{
	buf_putc(b, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_putc(b, '\\');
		buf_putc(b, (unsigned char)*text < ' ' ? '?' : (uint8_t)*text);
	}
	buf_putc(b, '"');
}

static void put_number(struct buf *b, double v)
{
	if (isfinite(v))
		buf_printf(b, "%.17g", v);
	else
		buf_puts(b, "NA");
}

static struct column begin(struct buf *b, const char *name)
{
	buf_puts(b, "  ");
	put_text(b, name);
	buf_puts(b, " = c(");
	return (struct column){ b, "" };
}

static void add_text(struct column *c, const char *text)
{
	buf_puts(c->b, c->between);
	put_text(c->b, text);
	c->between = ", ";
}

static void add_number(struct column *c, double v)
{
	buf_puts(c->b, c->between);
	put_number(c->b, v);
	c->between = ", ";
}

static void end(struct column *c)
{
	buf_puts(c->b, "),\n");
}

/* --- the table */

typedef void add_cell_fn(struct column *c, const struct neko_sweep *s, size_t point, size_t cell);

static void add_name(struct column *c, const struct neko_sweep *s, size_t point, size_t i)
{
	add_text(c, s->row[point].cell[i].name);
}

static void add_unit(struct column *c, const struct neko_sweep *s, size_t point, size_t i)
{
	add_text(c, s->row[point].cell[i].unit);
}

static void add_count(struct column *c, const struct neko_sweep *s, size_t point, size_t i)
{
	add_number(c, (double)s->row[point].cell[i].n);
}

static void add_mean(struct column *c, const struct neko_sweep *s, size_t point, size_t i)
{
	const struct neko_sweep_cell *cell = &s->row[point].cell[i];

	add_number(c, cell->n ? cell->mean : NAN);
}

static void add_half(struct column *c, const struct neko_sweep *s, size_t point, size_t i)
{
	add_number(c, s->row[point].cell[i].half);
}

static void add_deviation(struct column *c, const struct neko_sweep *s, size_t point, size_t i)
{
	add_number(c, s->row[point].cell[i].deviation);
}

static void add_min(struct column *c, const struct neko_sweep *s, size_t point, size_t i)
{
	add_number(c, s->row[point].cell[i].min);
}

static void add_max(struct column *c, const struct neko_sweep *s, size_t point, size_t i)
{
	add_number(c, s->row[point].cell[i].max);
}

static void add_end(struct column *c, const struct neko_sweep *s, size_t point, size_t i)
{
	add_text(c, neko_sweep_end(&s->row[point].counts));
}

static void add_column(struct buf *b, const struct neko_sweep *s, const char *name, add_cell_fn *fn)
{
	size_t points = neko_sweep_points(s);
	struct column c = begin(b, name);

	for (size_t p = 0; s->row && p < points; p++)
		for (size_t i = 0; i < s->row[p].n; i++)
			fn(&c, s, p, i);
	end(&c);
}

static void add_key(struct buf *b, const struct neko_sweep *s, unsigned key)
{
	size_t points = neko_sweep_points(s);
	struct column c = begin(b, s->key[key].key);

	for (size_t p = 0; s->row && p < points; p++)
		for (size_t i = 0; i < s->row[p].n; i++)
			add_text(&c, neko_sweep_value(s, p, key));
	end(&c);
}

/* --- values over time */

static void add_series(struct buf *b, const struct stat_result *v)
{
	struct column c;

	put_text(b, quantity_name(v->quantity));
	buf_puts(b, " = data.frame(\n");
	c = begin(b, "seconds");
	for (uint32_t i = 0; i < v->series->n; i++)
		add_number(&c, (double)v->series->point[i].at / 1e9);
	end(&c);
	c = begin(b, "value");
	for (uint32_t i = 0; i < v->series->n; i++)
		add_number(&c, v->series->point[i].v);
	end(&c);
	buf_puts(b, "  check.names = FALSE)");
}

static void add_all_series(struct buf *b, const struct run *r)
{
	struct stat_result v[STAT_QUANTITIES_MAX];
	const char *between = "\n";
	size_t n = run_results(r, v);

	buf_puts(b, "\n# values of the first run over its time\nneko_series <- list(");
	for (size_t i = 0; i < n; i++) {
		if (!v[i].series->n)
			continue;
		buf_puts(b, between);
		add_series(b, &v[i]);
		between = ",\n";
	}
	buf_puts(b, ")\n");
}

/*
 * Writes a data frame `neko`: a row for each quantity of a run, with the columns of
 * neko_sweep_csv(). Unknown values are NA. For a single run r (NULL: a sweep) it also writes the
 * values over time: a list `neko_series` of data frames.
 */
static void write_r(struct buf *b, const struct neko_sweep *s, const struct run *r)
{
	static const struct {
		const char *name;
		add_cell_fn *add;
	} columns[] = {
		{ "quantity", add_name }, { "unit", add_unit },	   { "n", add_count },
		{ "mean", add_mean },	  { "half_95", add_half }, { "deviation", add_deviation },
		{ "min", add_min },	  { "max", add_max },	   { "end", add_end },
	};

	buf_puts(b, "# omig neko: results; read them by source(\"FILE\")\nneko <- data.frame(\n");
	for (unsigned i = 0; i < s->n; i++)
		add_key(b, s, i);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		add_column(b, s, columns[i].name, columns[i].add);
	buf_puts(b, "  check.names = FALSE, stringsAsFactors = FALSE)\n");
	if (r)
		add_all_series(b, r);
}

/* --- forms */

enum neko_form neko_form_of_file(const char *path)
{
	if (str_has_suffix(path, ".csv"))
		return NEKO_FORM_CSV;
	return str_has_suffix(path, ".R") || str_has_suffix(path, ".r") ? NEKO_FORM_R
									: NEKO_FORM_JSON;
}

void neko_form_run(struct buf *b, enum neko_form form, const struct neko_form_run *v)
{
	switch (form) {
	case NEKO_FORM_TEXT:
		neko_show_text(b, v->run, v->counts);
		break;
	case NEKO_FORM_JSON:
		neko_show_json(b, v->path, v->run, v->counts, v->trace);
		break;
	case NEKO_FORM_CSV:
		neko_sweep_csv(b, v->sweep);
		break;
	case NEKO_FORM_R:
		write_r(b, v->sweep, v->run);
		break;
	}
}

void neko_form_sweep(struct buf *b, enum neko_form form, const char *path,
		     const struct neko_sweep *s)
{
	switch (form) {
	case NEKO_FORM_TEXT:
		neko_sweep_text(b, s);
		break;
	case NEKO_FORM_JSON:
		neko_sweep_json(b, s, path);
		break;
	case NEKO_FORM_CSV:
		neko_sweep_csv(b, s);
		break;
	case NEKO_FORM_R:
		write_r(b, s, NULL);
		break;
	}
}
