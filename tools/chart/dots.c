/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/chart/dots.h"

#include <stdlib.h>

struct dot_cell {
	uint8_t bits; /* row by row, from the left */
	char mark;
	uint32_t ink;
};

struct dots {
	struct grid_area area;
	enum paint_glyphs glyphs;
	struct dot_cell cell[];
};

static unsigned wide(const struct dots *d)
{
	return d->glyphs == PAINT_ASCII ? 1 : 2;
}

static unsigned high(const struct dots *d)
{
	return d->glyphs == PAINT_BRAILLE ? 4 : 2;
}

struct dots *dots_new(struct grid_area area, enum paint_glyphs glyphs)
{
	struct dots *d;

	if (!area.rows || !area.cols || area.rows > GRID_CELLS_MAX / area.cols)
		return NULL;
	d = calloc(1, sizeof(*d) + (size_t)area.rows * area.cols * sizeof(*d->cell));
	if (!d)
		return NULL;
	d->area = area;
	d->glyphs = glyphs;
	return d;
}

void dots_free(struct dots *d)
{
	free(d);
}

unsigned dots_across(const struct dots *d)
{
	return d->area.cols * wide(d);
}

unsigned dots_down(const struct dots *d)
{
	return d->area.rows * high(d);
}

void dots_set(struct dots *d, unsigned x, unsigned y, uint32_t ink, char mark)
{
	struct dot_cell *c;

	if (x >= dots_across(d) || y >= dots_down(d))
		return;
	c = &d->cell[(size_t)(y / high(d)) * d->area.cols + x / wide(d)];
	c->bits |= (uint8_t)(1u << (y % high(d) * wide(d) + x % wide(d)));
	c->ink = ink;
	c->mark = mark;
}

void dots_line(struct dots *d, const unsigned from[2], const unsigned to[2], uint32_t ink,
	       char mark)
{
	long dx = (long)to[0] - (long)from[0], dy = (long)to[1] - (long)from[1];
	long n = labs(dx) > labs(dy) ? labs(dx) : labs(dy);

	for (long i = 0; i <= n; i++) {
		long x = (long)from[0] + (n ? (2 * dx * i + (dx < 0 ? -n : n)) / (2 * n) : 0);
		long y = (long)from[1] + (n ? (2 * dy * i + (dy < 0 ? -n : n)) / (2 * n) : 0);

		if (x >= 0 && y >= 0)
			dots_set(d, (unsigned)x, (unsigned)y, ink, mark);
	}
}

/* Upper left is bit 0, upper right 1, lower left 2, lower right 3. */
static uint32_t quarters(uint8_t bits)
{
	static const uint32_t sign[] = { ' ',	 0x2598, 0x259d, 0x2580, 0x2596, 0x258c,
					 0x259e, 0x259b, 0x2597, 0x259a, 0x2590, 0x259c,
					 0x2584, 0x2599, 0x259f, 0x2588 };

	return sign[bits & 15];
}

/* Unicode counts the dots of braille down the columns, the last row separately. */
static uint32_t braille(uint8_t bits)
{
	static const uint8_t dot[] = { 0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80 };
	uint32_t sign = 0x2800;

	for (unsigned i = 0; i < 8; i++)
		if (bits >> i & 1)
			sign |= dot[i];
	return sign;
}

static uint32_t cell_sign(const struct dots *d, const struct dot_cell *c)
{
	static const char ascii[] = " '.:";

	if (d->glyphs == PAINT_BRAILLE)
		return braille(c->bits);
	if (d->glyphs == PAINT_BLOCKS)
		return quarters(c->bits);
	return (uint32_t)(c->mark ? c->mark : ascii[c->bits & 3]);
}

void dots_draw(const struct dots *d, struct grid *g)
{
	for (unsigned row = 0; row < d->area.rows; row++)
		for (unsigned col = 0; col < d->area.cols; col++) {
			const struct dot_cell *c = &d->cell[(size_t)row * d->area.cols + col];

			if (c->bits)
				grid_put(g, d->area.row + row, d->area.col + col,
					 (struct grid_cell){ cell_sign(d, c), c->ink, PAINT_NO_INK,
							     false });
		}
}
