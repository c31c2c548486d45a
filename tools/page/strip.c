/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/page/strip.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 64 /* of a share */

struct cell {
	uint8_t kind; /* enum strip_kind */
	uint8_t share; /* percent */
	uint8_t most; /* the largest share of computation among the members, percent */
};

struct strip {
	struct strip_row *row; /* owned */
	size_t nrow, nrank;
	uint64_t generation, next, first;
	nsec_t time[STRIP_COLUMNS];
	struct cell *cell; /* owned; STRIP_COLUMNS columns of nrow cells */
};

struct strip *strip_new(void)
{
	return calloc(1, sizeof(struct strip));
}

void strip_free(struct strip *s)
{
	if (!s)
		return;
	free(s->row);
	free(s->cell);
	free(s);
}

/* --- cells */

static enum strip_kind kind_of(enum top_class class)
{
	switch (class) {
	case TOP_SEND:
	case TOP_RECEIVE:
	case TOP_MESSAGE_PROBE:
		return STRIP_MESSAGE;
	case TOP_WAIT:
		return STRIP_WAIT;
	case TOP_COLLECTIVE:
		return STRIP_COLLECTIVE;
	case TOP_BARRIER:
		return STRIP_BARRIER;
	case TOP_ONESIDED:
	case TOP_ONESIDED_SYNC:
		return STRIP_ONESIDED;
	case TOP_IO:
		return STRIP_IO;
	default:
		return STRIP_OTHER;
	}
}

static uint8_t percent(double v)
{
	return v > 100 ? 100 : v > 0 ? (uint8_t)(v + 0.5) : 0;
}

/* A rank without rates, as in its first sample or on a silent host, is unknown. */
static bool has_shares(const struct top_rank *r)
{
	return !isnan(r->mpi) && r->state != TOP_SILENT && !top_rank_has_ended(r);
}

bool strip_shares(const struct top_rank *r, double out[STRIP_KINDS])
{
	if (!has_shares(r))
		return false;
	for (size_t i = 0; i < STRIP_KINDS; i++)
		out[i] = 0;
	for (size_t k = 0; k < TOP_CLASSES; k++)
		out[kind_of((enum top_class)k)] += r->share[k];
	out[STRIP_COMPUTE] = 100 - fmin(r->mpi, 100);
	return true;
}

static struct cell cell_of(const struct top_rank *const *rank, size_t n)
{
	double sum[STRIP_KINDS] = { 0 }, share[STRIP_KINDS], most = 0;
	size_t known = 0, best = 0;

	for (size_t i = 0; i < n; i++) {
		if (!strip_shares(rank[i], share))
			continue;
		known++;
		most = fmax(most, share[STRIP_COMPUTE]);
		for (size_t k = 0; k < STRIP_KINDS; k++)
			sum[k] += share[k];
	}
	if (!known)
		return (struct cell){ STRIP_UNKNOWN, 0, 0 };
	for (size_t k = 1; k < STRIP_KINDS; k++)
		best = sum[k] > sum[best] ? k : best;
	return (struct cell){ (uint8_t)best, percent(sum[best] / (double)known), percent(most) };
}

/* --- rows */

/* The ranks of row `row`, of n ranks. */
static size_t row_begin(size_t row, size_t rows, size_t n)
{
	return row * n / rows;
}

static bool is_same(const struct strip *s, const struct top_rank *const *rank, size_t n)
{
	if (n != s->nrank)
		return false;
	for (size_t i = 0; i < s->nrow; i++)
		if (!str_eq(s->row[i].token, rank[row_begin(i, s->nrow, n)]->token))
			return false;
	return true;
}

static void fill_rows(struct strip_row *row, size_t rows, const struct top_rank *const *rank,
		      size_t n)
{
	for (size_t i = 0; i < rows; i++) {
		size_t from = row_begin(i, rows, n);
		const struct top_rank *r = rank[from];

		str_copy(row[i].token, sizeof(row[i].token), r->token);
		str_copy(row[i].node, sizeof(row[i].node), r->node);
		row[i].rank = r->rank;
		row[i].members = row_begin(i + 1, rows, n) - from;
	}
}

/* The row of that token. Ranks keep their order, so that it is soon found behind the last one. */
static size_t find_row(const struct strip *s, const char *token, size_t guess)
{
	for (size_t k = 0; k < s->nrow; k++) {
		size_t i = (guess + k) % s->nrow;

		if (str_eq(s->row[i].token, token) && s->row[i].members == 1)
			return i;
	}
	return SIZE_MAX;
}

static void keep_cells(const struct strip *s, const struct strip_row *row, size_t rows,
		       struct cell *into)
{
	size_t guess = 0, was;

	for (size_t i = 0; i < rows; i++) {
		was = row[i].members == 1 ? find_row(s, row[i].token, guess) : SIZE_MAX;
		if (was != SIZE_MAX)
			guess = was + 1;
		for (size_t c = 0; c < STRIP_COLUMNS; c++)
			into[c * rows + i] = was == SIZE_MAX ? (struct cell){ STRIP_UNKNOWN, 0, 0 }
							     : s->cell[c * s->nrow + was];
	}
}

static int set_rows(struct strip *s, const struct top_rank *const *rank, size_t n)
{
	size_t rows = n < STRIP_ROWS_MAX ? n : STRIP_ROWS_MAX;
	struct strip_row *row = calloc(rows + 1, sizeof(*row));
	struct cell *cell = calloc(rows * STRIP_COLUMNS + 1, sizeof(*cell));

	if (!row || !cell) {
		free(row);
		free(cell);
		return -ERR_NOMEM;
	}
	fill_rows(row, rows, rank, n);
	keep_cells(s, row, rows, cell);
	free(s->row);
	free(s->cell);
	s->row = row;
	s->cell = cell;
	s->nrow = rows;
	s->nrank = n;
	s->generation++;
	return 0;
}

int strip_add(struct strip *s, const struct top_rank *const *rank, size_t n, nsec_t wall)
{
	int rc = is_same(s, rank, n) ? 0 : set_rows(s, rank, n);
	struct cell *column;

	if (rc)
		return rc;
	column = s->cell + s->next % STRIP_COLUMNS * s->nrow;
	for (size_t i = 0; i < s->nrow; i++) {
		size_t from = row_begin(i, s->nrow, n);

		column[i] = cell_of(rank + from, row_begin(i + 1, s->nrow, n) - from);
	}
	s->time[s->next % STRIP_COLUMNS] = wall;
	s->next++;
	if (s->next - s->first > STRIP_COLUMNS)
		s->first = s->next - STRIP_COLUMNS;
	return 0;
}

size_t strip_rows(const struct strip *s)
{
	return s->nrow;
}

uint64_t strip_generation(const struct strip *s)
{
	return s->generation;
}

uint64_t strip_next(const struct strip *s)
{
	return s->next;
}

uint64_t strip_first(const struct strip *s)
{
	return s->first;
}

nsec_t strip_time(const struct strip *s, uint64_t column)
{
	return s->time[column % STRIP_COLUMNS];
}

const struct strip_row *strip_row(const struct strip *s, size_t row)
{
	return &s->row[row];
}

/* --- pictures */

size_t strip_groups(const struct strip *s, size_t most, size_t i, size_t *from, size_t *to)
{
	size_t n = s->nrow < most ? s->nrow : most;

	*from = n ? row_begin(i, n, s->nrow) : 0;
	*to = n ? row_begin(i + 1, n, s->nrow) : 0;
	return n;
}

static struct cell merged(const struct cell *cell, size_t n)
{
	unsigned sum[STRIP_KINDS] = { 0 };
	size_t known = 0, best = 0;
	uint8_t most = 0;

	if (n == 1)
		return *cell;
	for (size_t i = 0; i < n; i++) {
		if (cell[i].kind >= STRIP_UNKNOWN)
			continue;
		known++;
		sum[cell[i].kind] += cell[i].share;
		most = cell[i].most > most ? cell[i].most : most;
	}
	if (!known)
		return (struct cell){ STRIP_UNKNOWN, 0, 0 };
	for (size_t k = 1; k < STRIP_KINDS; k++)
		best = sum[k] > sum[best] ? k : best;
	return (struct cell){ (uint8_t)best, (uint8_t)(sum[best] / known), most };
}

static bool is_odd(const struct cell *c)
{
	unsigned computes = c->kind == STRIP_COMPUTE ? c->share : 100u - c->share;

	return c->kind < STRIP_KINDS && c->most > computes + STRIP_ODD_POINTS;
}

void strip_put(const struct strip *s, uint64_t column, size_t most, struct buf *out)
{
	const struct cell *at = s->cell + column % STRIP_COLUMNS * s->nrow;
	size_t from, to, n = strip_groups(s, most, 0, &from, &to);

	for (size_t i = 0; i < n; i++) {
		struct cell c;

		strip_groups(s, most, i, &from, &to);
		c = merged(at + from, to - from);
		buf_putc(out, (uint8_t)((is_odd(&c) ? 'a' : 'A') + c.kind));
		buf_putc(out, (uint8_t)('0' + c.share * (STEPS - 1) / 100));
	}
}
