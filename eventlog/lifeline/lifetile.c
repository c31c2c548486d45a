/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/lifetile.h"

#include "common/base/err.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define SHADES 15
#define ROWS_MAX 256 /* a screen shows no finer rows */

/* Returns the number of rows between two stages: 16, or fewer if there are many stages. */
static unsigned lifetile_fine(unsigned nstage)
{
	unsigned bands = nstage > 1 ? nstage - 1 : 1;

	return bands * 16 <= ROWS_MAX ? 16 : ROWS_MAX / bands;
}

/*
 * Adds a line from x0 to x1 in a row: parts of the cells at its ends directly, and the cells
 * between as differences, which are summed later.
 */
static void add_span(struct lifetile *t, int32_t *whole, unsigned row, double x0, double x1)
{
	double from = x0 < x1 ? x0 : x1, to = x0 < x1 ? x1 : x0;
	unsigned first = (unsigned)from, last = (unsigned)to;
	float *cell = t->count + (size_t)row * t->columns;
	int32_t *w = whole + (size_t)row * t->columns;

	if (first == last) {
		/* Makes the span at least wide enough to be visible. */
		cell[first] += (float)(to - from) + FLT_MIN;
		return;
	}
	cell[first] += (float)(first + 1 - from);
	cell[last] += (float)(to - last);
	w[first + 1]++;
	w[last]--;
}

/*
 * Adds the line between two stages, in either direction. A line within one stage is in the row
 * below it.
 */
static void add_step(struct lifetile *t, int32_t *whole, const struct life_point *p, double scale)
{
	double x0 = (double)p[0].at * scale, x1 = (double)p[1].at * scale;
	unsigned y0 = p[0].stage * t->fine, y1 = p[1].stage * t->fine;
	unsigned top = y0 < y1 ? y0 : y1, n = y0 < y1 ? y1 - y0 : y0 - y1;

	if (!n) {
		add_span(t, whole, top < t->rows ? top : t->rows - 1, x0, x1);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned row = y0 < y1 ? top + i : top + n - 1 - i;

		add_span(t, whole, row, x0 + (x1 - x0) * i / n, x0 + (x1 - x0) * (i + 1) / n);
	}
}

static void sum_rows(struct lifetile *t, const int32_t *whole)
{
	for (unsigned r = 0; r < t->rows; r++) {
		size_t at = (size_t)r * t->columns;
		int32_t sum = 0;

		for (unsigned x = 0; x < t->columns; x++, at++) {
			sum += whole[at];
			t->count[at] += (float)sum;
			t->max = t->count[at] > t->max ? t->count[at] : t->max;
		}
	}
}

/* Returns the columns per ns that put the last event into the last column. */
static double scale_of(const struct life_model *m, size_t columns)
{
	nsec_t span = m->end - m->start;

	return span > 0 ? ((double)columns - 0.001) / (double)span : 0;
}

int lifetile_draw(struct lifetile *t, const struct life_model *m, unsigned level)
{
	double scale;
	int32_t *whole;

	*t = (struct lifetile){ .columns = LIFETILE_COLUMNS << level,
				.fine = lifetile_fine(m->nstage) };
	t->rows = (m->nstage > 1 ? m->nstage - 1 : 1) * t->fine;
	t->count = calloc((size_t)t->rows * t->columns, sizeof(*t->count));
	whole = calloc((size_t)t->rows * t->columns, sizeof(*whole));
	if (!t->count || !whole) {
		free(whole);
		lifetile_done(t);
		return -ERR_NOMEM;
	}
	scale = scale_of(m, t->columns);
	for (size_t i = 0; i < m->nline; i++)
		for (uint32_t k = 1; k < m->line[i].n; k++)
			add_step(t, whole, m->point + m->line[i].first + k - 1, scale);
	sum_rows(t, whole);
	free(whole);
	return 0;
}

void lifetile_done(struct lifetile *t)
{
	free(t->count);
	*t = (struct lifetile){ 0 };
}

unsigned lifetile_shade(const struct lifetile *t, float count)
{
	return count > 0 ? 1 + (unsigned)(sqrtf(count / t->max) * (SHADES - 1) + 0.5f) : 0;
}

static void put_run(struct buf *out, unsigned shade, uint32_t n)
{
	if (n <= 15) {
		buf_putc(out, (uint8_t)(shade << 4 | n));
		return;
	}
	buf_putc(out, (uint8_t)(shade << 4));
	buf_put_varint(out, n);
}

void lifetile_pack(struct buf *out, const struct lifetile *t)
{
	for (unsigned r = 0; r < t->rows; r++) {
		const float *line = t->count + (size_t)r * t->columns;
		unsigned shade = lifetile_shade(t, line[0]), next;
		uint32_t n = 0;

		for (unsigned x = 0; x < t->columns; x++, n++) {
			next = lifetile_shade(t, line[x]);
			if (next == shade)
				continue;
			put_run(out, shade, n);
			shade = next;
			n = 0;
		}
		put_run(out, shade, n);
	}
}

void lifetile_range(const struct life_model *m, const struct life_series *s, struct liferange *out,
		    size_t n)
{
	double scale = scale_of(m, n);

	for (size_t i = 0; i < n; i++)
		out[i] = (struct liferange){ 1, 0 };
	for (size_t i = 0; i < s->n; i++) {
		struct liferange *r = &out[(size_t)((double)s->sample[i].at * scale)];
		double v = s->sample[i].value;
		bool is_empty = r->min > r->max;

		r->min = is_empty || v < r->min ? v : r->min;
		r->max = is_empty || v > r->max ? v : r->max;
	}
}
