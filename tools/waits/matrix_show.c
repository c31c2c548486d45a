/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/waits/matrix.h"

#include "common/base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SHADES 4 /* of blocks */
#define DIGITS 9
#define MARGIN 8 /* columns for a rank's number */

static const char *const block[SHADES] = { "\xe2\x96\x91", "\xe2\x96\x92", "\xe2\x96\x93",
					   "\xe2\x96\x88" };

/* Headings of rows and columns. */
static const struct {
	const char *row, *column;
} words[] = { [MATRIX_SENDS] = { "FROM", "to" },
	      [MATRIX_RECEIVES] = { "BY", "from" },
	      [MATRIX_WAITS] = { "RANK", "for" },
	      [MATRIX_BOTH] = { "RANK", "with" } };

void matrix_verdict(struct buf *out, const struct matrix *m)
{
	char value[MATRIX_VALUE_BYTES], sum[MATRIX_VALUE_BYTES], pair[MATRIX_PAIR_BYTES];
	char time[TABLE_QUANTITY_BYTES];

	if (!m->largest) {
		buf_printf(out, "%s: no pair of %zu ranks has a value in %s\n", m->metric.name,
			   m->x->n, table_quantity(time, m->seconds, 2, "s"));
		return;
	}
	buf_printf(out, "%s: most is %s, %s", m->metric.name, matrix_pair(pair, m, m->largest),
		   matrix_value(value, m, m->most));
	buf_printf(out, "; %s between %zu pair%s of %zu ranks in %s\n",
		   matrix_value(sum, m, m->sum), m->n, m->n == 1 ? "" : "s", m->x->n,
		   table_quantity(time, m->seconds, 2, "s"));
}

/* --- numbers */

static void put_number(struct table *t, const struct matrix *m, const struct matrix_cell *c)
{
	char value[MATRIX_VALUE_BYTES], number[TABLE_NUMBER_BYTES];

	if (!c)
		table_cell(t, ".");
	else if (m->metric.quantity == PMSL_Q_COUNT)
		table_cell(t, "%s", table_count(number, c->value));
	else
		table_cell(t, "%s", matrix_value(value, m, c->value));
}

static int show_numbers(const struct matrix *m, struct buf *out)
{
	char head[MATRIX_TABLE_RANKS + 1][TABLE_NUMBER_BYTES + 8], align[MATRIX_TABLE_RANKS + 2];
	const char *heads[MATRIX_TABLE_RANKS + 1];
	size_t size = (size_t)m->x->world_size, at = 0;
	struct table *t;

	heads[0] = words[m->way].row;
	align[0] = 'r';
	for (size_t i = 0; i < size; i++) {
		if (i)
			snprintf(head[i], sizeof(head[i]), "%zu", i);
		else
			snprintf(head[i], sizeof(head[i]), "%s 0", words[m->way].column);
		heads[i + 1] = head[i];
		align[i + 1] = 'r';
	}
	align[size + 1] = '\0';
	t = table_new(size + 1, heads, align);
	if (!t)
		return -ERR_NOMEM;
	for (size_t r = 0; r < size; r++) {
		table_cell(t, "%zu", r);
		for (size_t c = 0; c < size; c++) {
			bool is_here = at < m->n && (size_t)m->cell[at].rank == r &&
				       (size_t)m->cell[at].partner == c;

			put_number(t, m, is_here ? &m->cell[at] : NULL);
			at += is_here;
		}
	}
	return table_end(t, 0, out);
}

/* --- shades: one character covers a square of `each` by `each` ranks */

struct shading {
	double *value; /* owned: side x side */
	size_t side, each;
	double most;
};

static bool shade(struct shading *s, const struct matrix *m, size_t room)
{
	size_t size = (size_t)m->x->world_size;

	s->each = (size + room - 1) / room;
	s->side = (size + s->each - 1) / s->each;
	s->value = calloc(s->side * s->side, sizeof(*s->value));
	for (size_t i = 0; s->value && i < m->n; i++) {
		double *to = &s->value[(size_t)m->cell[i].rank / s->each * s->side +
				       (size_t)m->cell[i].partner / s->each];

		*to += m->cell[i].value;
		s->most = fmax(s->most, *to);
	}
	return s->value;
}

static void put_shade(struct buf *out, double v, double most, bool is_plain)
{
	unsigned n = is_plain ? DIGITS : SHADES;
	unsigned level = v > 0 ? (unsigned)ceil(v / most * n) : 0;

	if (!level)
		buf_puts(out, is_plain ? "." : " ");
	else if (is_plain)
		buf_printf(out, "%u", level > n ? n : level);
	else
		buf_puts(out, block[(level > n ? n : level) - 1]);
}

static int show_shades(const struct term *t, const struct matrix *m, bool is_plain, struct buf *out)
{
	size_t cols = t->is_tty && t->cols > 2 * MARGIN ? t->cols : 80;
	struct shading s = { 0 };
	char most[MATRIX_VALUE_BYTES];

	if (!shade(&s, m, cols - MARGIN))
		return -ERR_NOMEM;
	buf_printf(out, "%*s %s 0 ...\n", MARGIN - 2, words[m->way].row, words[m->way].column);
	for (size_t r = 0; r < s.side; r++) {
		buf_printf(out, "%*zu ", MARGIN - 2, r * s.each);
		for (size_t c = 0; c < s.side; c++)
			put_shade(out, s.value[r * s.side + c], s.most, is_plain);
		buf_puts(out, is_plain ? "\n" : "\xe2\x94\x82\n");
	}
	buf_printf(out, "%s is %s", is_plain ? "9" : block[SHADES - 1],
		   matrix_value(most, m, s.most));
	if (s.each > 1)
		buf_printf(out, "; a character stands for %zu x %zu ranks", s.each, s.each);
	buf_puts(out, "; --csv and --json have the numbers\n");
	free(s.value);
	return 0;
}

int matrix_show(const struct term *t, const struct matrix *m, bool is_plain, struct buf *out)
{
	int rc = 0;

	buf_puts(out, term_paint(t, TERM_BOLD));
	matrix_verdict(out, m);
	buf_puts(out, term_paint(t, TERM_PLAIN));
	if (m->n && m->x->world_size <= MATRIX_TABLE_RANKS)
		rc = show_numbers(m, out);
	else if (m->n)
		rc = show_shades(t, m, is_plain, out);
	if (m->lost > 0)
		buf_printf(out,
			   "%.0f calls found no room in the tables of partners: they are in "
			   "no value\n",
			   m->lost);
	return out->failed ? -ERR_NOMEM : rc;
}

/* --- for programs */

static const char *const way_names[] = { [MATRIX_SENDS] = "sends",
					 [MATRIX_RECEIVES] = "receives",
					 [MATRIX_WAITS] = "waits",
					 [MATRIX_BOTH] = "both" };

void matrix_csv(struct buf *out, const struct matrix *m, bool head)
{
	if (head)
		buf_puts(out, "metric,rank,partner,way,value,error,unit\n");
	for (size_t i = 0; i < m->n; i++) {
		const struct matrix_cell *c = &m->cell[i];

		buf_printf(out, "%s,%d,%d,%s,%.17g,%.17g,%s\n", m->metric.name, c->rank, c->partner,
			   way_names[m->way], c->value, c->error, m->metric.unit);
	}
}

void matrix_json(struct json *j, const struct matrix *m)
{
	struct buf text = BUF_INIT(1024);

	matrix_verdict(&text, m);
	json_key(j, "text");
	json_str_n(j, text.p, text.n ? text.n - 1 : 0);
	buf_done(&text);
	json_key_str(j, "metric", m->metric.name);
	json_key_str(j, "unit", m->metric.unit);
	json_key_str(j, "way", way_names[m->way]);
	json_key_str(j, "job", m->x->job);
	json_key_double(j, "interval", m->seconds);
	json_key_i64(j, "ranks", (int64_t)m->x->n);
	json_key_double(j, "sum", m->sum);
	json_key_double(j, "lost_calls", m->lost);
	json_key_array(j, "pairs");
	for (size_t i = 0; i < m->n; i++) {
		json_object(j);
		json_key_i64(j, "rank", m->cell[i].rank);
		json_key_i64(j, "partner", m->cell[i].partner);
		json_key_double(j, "value", m->cell[i].value);
		json_key_double(j, "error", m->cell[i].error);
		json_object_end(j);
	}
	json_array_end(j);
}
