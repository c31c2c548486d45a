/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours and signs of charts. Colours: the scale is viridis, whose lightness is monotone. The
 * kinds are those of Okabe and Ito, which colour-blind people can distinguish. Without colour,
 * signs differ. All functions but paint_depth() and paint_glyphs() are pure: any thread.
 */
#ifndef TOOLS_CHART_PAINT_H
#define TOOLS_CHART_PAINT_H

#include <stdbool.h>
#include <stdint.h>

enum paint_glyphs { PAINT_ASCII, PAINT_BLOCKS, PAINT_BRAILLE };
enum paint_depth { PAINT_MONO, PAINT_16, PAINT_256, PAINT_TRUE };

struct paint {
	enum paint_glyphs glyphs;
	enum paint_depth depth;
};

#define PAINT_NO_INK UINT32_MAX /* the default colour of the terminal */

/*
 * Returns the colours that the environment's COLORTERM and TERM have. With has_color (struct term)
 * they are at least 16, as for --color=always; without it there are none.
 */
enum paint_depth paint_depth(bool has_color);
/*
 * word: ascii, blocks, braille; auto: blocks if the locale has UTF-8, else ASCII. -ERR_INVALID for
 * another word.
 */
int paint_glyphs(const char *word, enum paint_glyphs *out);

/* Returns 0xRRGGBB for a share from 0 to 1; a share outside of it is at one of the ends. */
uint32_t paint_scale(double share);
#define PAINT_KINDS 8
/* Returns the colour of kind i; kinds repeat after PAINT_KINDS. */
uint32_t paint_kind(unsigned i);

/* Returns the nearest colour of the 256 or 16 of a terminal. */
uint8_t paint_to_256(uint32_t ink);
uint8_t paint_to_16(uint32_t ink);

/* Returns a sign whose darkness is the share from 0 to 1; only 0 gives a blank. */
uint32_t paint_shade(enum paint_glyphs glyphs, double share);
/* Returns a sign that fills n eighths (0 to 8) of a cell from the left, or from below. */
uint32_t paint_from_left(enum paint_glyphs glyphs, unsigned n);
uint32_t paint_from_below(enum paint_glyphs glyphs, unsigned n);
/* Returns the sign for a cell without a value: a hatch, no sign of the scale. */
uint32_t paint_none(enum paint_glyphs glyphs);

#endif
