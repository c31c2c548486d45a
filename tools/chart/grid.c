/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/chart/grid.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

static const struct grid_cell blank = { ' ', PAINT_NO_INK, PAINT_NO_INK, false };

struct grid {
	unsigned rows, cols;
	struct grid_cell cell[];
};

struct grid *grid_new(unsigned rows, unsigned cols)
{
	struct grid *g;

	if (!rows || !cols || rows > GRID_CELLS_MAX / cols)
		return NULL;
	g = malloc(sizeof(*g) + (size_t)rows * cols * sizeof(*g->cell));
	if (!g)
		return NULL;
	g->rows = rows;
	g->cols = cols;
	for (size_t i = 0; i < (size_t)rows * cols; i++)
		g->cell[i] = blank;
	return g;
}

void grid_free(struct grid *g)
{
	free(g);
}

struct grid_area grid_all(const struct grid *g)
{
	return (struct grid_area){ 0, 0, g->rows, g->cols };
}

void grid_put(struct grid *g, unsigned row, unsigned col, struct grid_cell cell)
{
	if (row < g->rows && col < g->cols)
		g->cell[(size_t)row * g->cols + col] = cell;
}

struct grid_cell grid_get(const struct grid *g, unsigned row, unsigned col)
{
	return row < g->rows && col < g->cols ? g->cell[(size_t)row * g->cols + col] : blank;
}

/* --- text */

/* The scripts of one column for a character: Latin, Greek, Cyrillic, signs, blocks, braille. */
static bool is_narrow(uint32_t v)
{
	static const uint32_t range[][2] = { { 0x20, 0x7e },	 { 0xa1, 0xac },
					     { 0xae, 0x2ff },	 { 0x370, 0x482 },
					     { 0x48a, 0x52f },	 { 0x2010, 0x2027 },
					     { 0x2190, 0x21ff }, { 0x2500, 0x259f },
					     { 0x2800, 0x28ff } };

	for (size_t i = 0; i < ARRAY_LEN(range); i++)
		if (v >= range[i][0] && v <= range[i][1])
			return true;
	return false;
}

unsigned grid_text(struct grid *g, struct grid_span at, const char *text, uint32_t ink)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text);
	unsigned n = 0;

	for (size_t len; p < end && n < at.width; n++, p += len ? len : 1) {
		uint32_t v;

		len = str_utf8_at(p, (size_t)(end - p), &v);
		grid_put(g, at.row, at.col + n,
			 (struct grid_cell){ len && is_narrow(v) ? v : '?', ink, PAINT_NO_INK,
					     false });
	}
	return n;
}

void grid_text_left_of(struct grid *g, struct grid_span at, const char *text, uint32_t ink)
{
	unsigned n = (unsigned)str_characters(text);

	n = n < at.width ? n : at.width;
	n = n < at.col ? n : at.col;
	grid_text(g, (struct grid_span){ at.row, at.col - n, n }, text, ink);
}

/* --- printing */

/* Adds the parameters of a colour; base: 30 for the ink, 40 for the paper. */
static void put_color(struct buf *out, enum paint_depth depth, unsigned base, uint32_t ink)
{
	unsigned usual;

	if (ink == PAINT_NO_INK)
		return;
	if (depth == PAINT_TRUE) {
		buf_printf(out, ";%u;2;%u;%u;%u", base + 8, ink >> 16 & 0xff, ink >> 8 & 0xff,
			   ink & 0xff);
	} else if (depth == PAINT_256) {
		buf_printf(out, ";%u;5;%u", base + 8, paint_to_256(ink));
	} else {
		usual = paint_to_16(ink);
		buf_printf(out, ";%u", usual < 8 ? base + usual : base + 60 + usual - 8);
	}
}

static bool looks_alike(const struct grid_cell *a, const struct grid_cell *b)
{
	return a->ink == b->ink && a->paper == b->paper && a->is_bold == b->is_bold;
}

static void put_look(struct buf *out, enum paint_depth depth, const struct grid_cell *c)
{
	buf_puts(out, "\033[0");
	if (c->is_bold)
		buf_puts(out, ";1");
	put_color(out, depth, 30, c->ink);
	put_color(out, depth, 40, c->paper);
	buf_putc(out, 'm');
}

static void print_row(const struct grid *g, unsigned row, enum paint_depth depth, struct buf *out)
{
	const struct grid_cell *c = &g->cell[(size_t)row * g->cols], *look = &blank;
	unsigned n = g->cols;

	while (n && c[n - 1].sign == ' ' && (depth == PAINT_MONO || c[n - 1].paper == PAINT_NO_INK))
		n--;
	for (unsigned i = 0; i < n; i++) {
		if (depth != PAINT_MONO && !looks_alike(&c[i], look))
			put_look(out, depth, &c[i]);
		look = &c[i];
		buf_put_utf8(out, c[i].sign);
	}
	if (depth != PAINT_MONO && !looks_alike(look, &blank))
		buf_puts(out, "\033[0m");
	buf_putc(out, '\n');
}

int grid_print(const struct grid *g, enum paint_depth depth, struct buf *out)
{
	for (unsigned row = 0; row < g->rows; row++)
		print_row(g, row, depth, out);
	return out->failed ? (out->n >= out->max ? -ERR_LIMIT : -ERR_NOMEM) : 0;
}
