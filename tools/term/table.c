/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/table.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "tools/term/say.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* A screenful is some hundred cells; a site of ten thousand ranks with threads is below this. */
#define TABLE_CELLS_MAX (4u << 20)
#define SHOWN_MAX_BYTES (256u << 20) /* SHOW_MAX_BYTES of documents */

struct table {
	size_t columns;
	const char *const *heads;
	const char *align;
	char **cell; /* owned; row by row */
	size_t n, cap;
	bool failed;
};

struct table *table_new(size_t columns, const char *const *heads, const char *align)
{
	struct table *t = calloc(1, sizeof(*t));

	if (t) {
		t->columns = columns;
		t->heads = heads;
		t->align = align;
	}
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t);
}

void table_cell(struct table *t, const char *fmt, ...)
{
	char text[512], safe[1024];
	char *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	copy = str_dup(str_show(safe, sizeof(safe), text));
	if (!copy || array_grow(&t->cell, &t->cap, t->n + 1, sizeof(*t->cell), TABLE_CELLS_MAX)) {
		free(copy);
		t->failed = true;
		return;
	}
	t->cell[t->n++] = copy;
}

static void measure(const struct table *t, size_t *width)
{
	size_t w;

	for (size_t i = 0; i < t->columns; i++)
		width[i] = str_characters(t->heads[i]);
	for (size_t i = 0; i < t->n; i++) {
		w = str_characters(t->cell[i]);
		if (w > width[i % t->columns])
			width[i % t->columns] = w;
	}
}

static void put_padded(struct buf *line, const char *s, size_t width, bool right)
{
	size_t pad = width - str_characters(s);

	if (right)
		buf_printf(line, "%*s", (int)pad, "");
	buf_puts(line, s);
	if (!right)
		buf_printf(line, "%*s", (int)pad, "");
}

/* Appends the line without spaces at its end, cut to `width` characters. */
static void put_line(struct buf *out, const struct buf *line, size_t width)
{
	size_t seen = 0, end = line->n;

	for (size_t i = 0; width && i < line->n; i++) {
		if ((line->p[i] & 0xc0) == 0x80)
			continue;
		if (seen++ == width) {
			end = i;
			break;
		}
	}
	while (end > 0 && line->p[end - 1] == ' ')
		end--;
	buf_put(out, line->p, end);
	buf_putc(out, '\n');
}

static void put_row(const struct table *t, const char *const *cell, const size_t *width,
		    struct buf *line)
{
	buf_clear(line);
	for (size_t i = 0; i < t->columns; i++) {
		if (i)
			buf_puts(line, "  ");
		put_padded(line, cell[i], width[i], t->align[i] == 'r');
	}
}

int table_print(const struct table *t, size_t width, struct buf *out)
{
	size_t *widths = calloc(t->columns, sizeof(*widths));
	struct buf line = BUF_INIT(1 << 20);
	bool failed = t->failed || !widths;

	if (widths) {
		measure(t, widths);
		put_row(t, t->heads, widths, &line);
		put_line(out, &line, width);
		for (size_t row = 0; row + t->columns <= t->n; row += t->columns) {
			put_row(t, (const char *const *)t->cell + row, widths, &line);
			put_line(out, &line, width);
		}
	}
	failed = failed || line.failed || out->failed;
	buf_done(&line);
	free(widths);
	return failed ? -ERR_NOMEM : 0;
}

int table_end(struct table *t, size_t width, struct buf *out)
{
	int rc = t ? table_print(t, width, out) : -ERR_NOMEM;

	table_free(t);
	return rc;
}

int table_show(struct table *t, size_t width)
{
	struct buf out = BUF_INIT(SHOWN_MAX_BYTES);
	int rc = table_end(t, width, &out);

	if (!rc)
		fwrite(out.p, 1, out.n, stdout);
	buf_done(&out);
	return rc ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
}

bool table_each(const struct table *t, table_cell_fn fn, void *arg)
{
	bool goes_on = !t->failed;

	for (size_t i = 0; goes_on && i < t->columns; i++)
		goes_on = fn(arg, 0, i, t->heads[i], t->align[i] == 'r');
	for (size_t i = 0; goes_on && i < t->n; i++)
		goes_on = fn(arg, 1 + i / t->columns, i % t->columns, t->cell[i],
			     t->align[i % t->columns] == 'r');
	return goes_on;
}

static char *scaled(char *out, double v, double base, const char *letters)
{
	size_t i = 0;

	if (!isfinite(v)) {
		str_copy(out, TABLE_NUMBER_BYTES, "-");
		return out;
	}
	while (fabs(v) >= (base == 1000 ? 999.5 : 1023.5) && letters[i + 1]) {
		v /= base;
		i++;
	}
	if (i == 0)
		snprintf(out, TABLE_NUMBER_BYTES, "%.0f", v);
	else
		snprintf(out, TABLE_NUMBER_BYTES, fabs(v) < 9.95 ? "%.1f%c" : "%.0f%c", v,
			 letters[i]);
	return out;
}

char *table_count(char out[TABLE_NUMBER_BYTES], double v)
{
	return scaled(out, v, 1000, " kMGTPE");
}

char *table_bytes(char out[TABLE_NUMBER_BYTES], double v)
{
	return scaled(out, v, 1024, " KMGTPE");
}

/* A power of two: its number has at most four digits. */
static void put_size(struct buf *out, int64_t v)
{
	static const char units[] = "KMG";
	size_t i = 0;

	for (; v >= 1024 && i < sizeof(units) - 1; i++)
		v /= 1024;
	buf_printf(out, "%lld", (long long)v);
	if (i)
		buf_putc(out, units[i - 1]);
}

void table_sizes(struct buf *out, int64_t from, int64_t to)
{
	put_size(out, from);
	if (to < 0) {
		buf_putc(out, '+');
	} else if (to > from) {
		buf_putc(out, '-');
		put_size(out, to < 1024 ? to : to + 1);
	}
}

char *table_percent(char out[TABLE_NUMBER_BYTES], double v)
{
	if (!isfinite(v))
		str_copy(out, TABLE_NUMBER_BYTES, "-");
	else
		snprintf(out, TABLE_NUMBER_BYTES, "%.1f", v);
	return out;
}

/* Bytes and seconds are scaled, also per something; other units are counts. */
static bool is_scaled(const char *unit, char letter)
{
	return unit[0] == letter && (!unit[1] || unit[1] == '/' || unit[1] == '*');
}

/* limit: what would be written as 1000. */
static const char *prefix_of(double *v, bool is_time, double limit)
{
	static const char *const up[] = { "", "k", "M", "G", "T", "P", "E" };
	static const char *const down[] = { "", "m", "u", "n" };
	size_t i = 0;

	if (is_time) {
		while (*v != 0 && fabs(*v) < limit / 1000 && i + 1 < ARRAY_LEN(down)) {
			*v *= 1000;
			i++;
		}
		return down[i];
	}
	while (fabs(*v) >= limit && i + 1 < ARRAY_LEN(up)) {
		*v /= 1000;
		i++;
	}
	return up[i];
}

char *table_quantity(char out[TABLE_QUANTITY_BYTES], double v, int digits, const char *unit)
{
	const char *prefix = "";
	bool is_plain;

	if (str_eq(unit, "s/s")) {
		v *= 100;
		unit = "%";
	}
	if (str_eq(unit, "1"))
		unit = "";
	if (isfinite(v) && (is_scaled(unit, 'B') || is_scaled(unit, 's')))
		prefix = prefix_of(&v, unit[0] == 's', 1000 - 0.5 * pow(10, 3 - digits));
	/* 130, not 1.3e+02 */
	is_plain = fabs(v) >= pow(10, digits) - 0.5 && fabs(v) < 1e9;
	if (!isfinite(v))
		snprintf(out, TABLE_QUANTITY_BYTES, "-%s%s", unit[0] ? " " : "", unit);
	else
		snprintf(out, TABLE_QUANTITY_BYTES, is_plain ? "%.*f%s%s%s" : "%.*g%s%s%s",
			 is_plain ? 0 : digits, v, unit[0] ? " " : "", prefix, unit);
	return out;
}

char *table_duration(char out[TABLE_NUMBER_BYTES], double seconds)
{
	long s = (long)seconds;

	if (!isfinite(seconds) || seconds < 0 || seconds > 1e12)
		str_copy(out, TABLE_NUMBER_BYTES, "-");
	else if (s < 60)
		snprintf(out, TABLE_NUMBER_BYTES, "%.1fs", seconds);
	else if (s < 3600)
		snprintf(out, TABLE_NUMBER_BYTES, "%ldm%02lds", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, TABLE_NUMBER_BYTES, "%ldh%02ldm", s / 3600, s / 60 % 60);
	else
		snprintf(out, TABLE_NUMBER_BYTES, "%ldd%02ldh", s / 86400, s / 3600 % 24);
	return out;
}
