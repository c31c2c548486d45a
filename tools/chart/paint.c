/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/chart/paint.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "tools/term/term.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EIGHTHS 8

static double clip(double share)
{
	return isnan(share) ? 0 : fmin(fmax(share, 0), 1);
}

enum paint_depth paint_depth(bool has_color)
{
	const char *color = getenv("COLORTERM"), *term = getenv("TERM");

	if (!has_color)
		return PAINT_MONO;
	if (color && (str_eq(color, "truecolor") || str_eq(color, "24bit")))
		return PAINT_TRUE;
	return term && strstr(term, "256color") ? PAINT_256 : PAINT_16;
}

int paint_glyphs(const char *word, enum paint_glyphs *out)
{
	static const char *const words[] = { "ascii", "blocks", "braille" };

	if (str_eq(word, "auto")) {
		*out = term_is_utf8() ? PAINT_BLOCKS : PAINT_ASCII;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_eq(word, words[i])) {
			*out = (enum paint_glyphs)i;
			return 0;
		}
	return -ERR_INVALID;
}

/* --- colours */

/* Returns part `shift` of the colour between two, k from 0 to 1. */
static uint32_t between(uint32_t a, uint32_t b, unsigned shift, double k)
{
	double x = (a >> shift) & 0xff, y = (b >> shift) & 0xff;

	return (uint32_t)lround(x + (y - x) * k) << shift;
}

uint32_t paint_scale(double share)
{
	/* viridis (Smith and van der Walt, 2015), at each eighth */
	static const uint32_t key[] = { 0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c,
					0x28ae80, 0x5ec962, 0xaddc30, 0xfde725 };
	double at = clip(share) * (ARRAY_LEN(key) - 1);
	size_t i = at < ARRAY_LEN(key) - 1 ? (size_t)at : ARRAY_LEN(key) - 2;
	uint32_t a = key[i], b = key[i + 1];
	double k = at - (double)i;

	return between(a, b, 16, k) | between(a, b, 8, k) | between(a, b, 0, k);
}

uint32_t paint_kind(unsigned i)
{
	/* Okabe and Ito, 2002; grey in place of black, which a dark terminal would not show */
	static const uint32_t kind[PAINT_KINDS] = { 0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442,
						    0x0072b2, 0xd55e00, 0xcc79a7, 0x999999 };

	return kind[i % PAINT_KINDS];
}

static unsigned distance(uint32_t a, uint32_t b)
{
	unsigned sum = 0;

	for (unsigned shift = 0; shift <= 16; shift += 8) {
		int d = (int)((a >> shift) & 0xff) - (int)((b >> shift) & 0xff);

		sum += (unsigned)(d * d);
	}
	return sum;
}

/* The cube of 6 x 6 x 6 colours, which all terminals of 256 colours have alike. */
uint8_t paint_to_256(uint32_t ink)
{
	static const uint8_t level[] = { 0, 95, 135, 175, 215, 255 };
	unsigned place = 0;

	for (int shift = 16; shift >= 0; shift -= 8) {
		int v = (int)((ink >> shift) & 0xff), best = 0;

		for (int i = 1; i < (int)ARRAY_LEN(level); i++)
			if (abs(v - level[i]) < abs(v - level[best]))
				best = i;
		place = place * ARRAY_LEN(level) + (unsigned)best;
	}
	return (uint8_t)(16 + place);
}

uint8_t paint_to_16(uint32_t ink)
{
	static const uint32_t usual[] = { 0x000000, 0xcd0000, 0x00cd00, 0xcdcd00,
					  0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
					  0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
					  0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff };
	uint8_t best = 0;

	for (uint8_t i = 1; i < ARRAY_LEN(usual); i++)
		if (distance(ink, usual[i]) < distance(ink, usual[best]))
			best = i;
	return best;
}

/* --- signs */

uint32_t paint_shade(enum paint_glyphs glyphs, double share)
{
	static const char ascii[] = ".:-=+*#%@";
	static const uint32_t block[] = { 0x2591, 0x2592, 0x2593, 0x2588 };
	size_t n = glyphs == PAINT_ASCII ? sizeof(ascii) - 1 : ARRAY_LEN(block);
	size_t i = (size_t)(clip(share) * (double)n);

	if (!(share > 0))
		return ' ';
	i = i < n ? i : n - 1;
	return glyphs == PAINT_ASCII ? (uint32_t)ascii[i] : block[i];
}

uint32_t paint_from_left(enum paint_glyphs glyphs, unsigned n)
{
	if (glyphs == PAINT_ASCII)
		return n >= EIGHTHS / 2 ? '#' : n ? '-' : ' ';
	return n ? 0x2590 - (n < EIGHTHS ? n : EIGHTHS) : ' ';
}

uint32_t paint_from_below(enum paint_glyphs glyphs, unsigned n)
{
	static const char ascii[] = " ..:::|##";

	n = n < EIGHTHS ? n : EIGHTHS;
	if (glyphs == PAINT_ASCII)
		return (uint32_t)ascii[n];
	return n ? 0x2580 + n : ' ';
}

uint32_t paint_none(enum paint_glyphs glyphs)
{
	return glyphs == PAINT_ASCII ? '/' : 0x2571;
}
