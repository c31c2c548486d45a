/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "tests/suite.h"
#include "tools/chart/paint.h"

#include <math.h>
#include <stdlib.h>

static double lightness(uint32_t ink)
{
	return 0.2126 * pow((ink >> 16 & 0xff) / 255.0, 2.2) +
	       0.7152 * pow((ink >> 8 & 0xff) / 255.0, 2.2) +
	       0.0722 * pow((ink & 0xff) / 255.0, 2.2);
}

TEST(the_scale_grows_lighter_from_end_to_end)
{
	double before = -1;

	for (int i = 0; i <= 64; i++) {
		double now = lightness(paint_scale(i / 64.0));

		ck_assert(now > before);
		before = now;
	}
	ck_assert_uint_eq(paint_scale(-3), paint_scale(0));
	ck_assert_uint_eq(paint_scale(7), paint_scale(1));
	ck_assert_uint_eq(paint_scale(NAN), paint_scale(0));
}

TEST(kinds_differ_in_each_depth_of_colour)
{
	for (unsigned i = 0; i < PAINT_KINDS; i++)
		for (unsigned k = 0; k < i; k++) {
			ck_assert_uint_ne(paint_kind(i), paint_kind(k));
			ck_assert_uint_ne(paint_to_256(paint_kind(i)), paint_to_256(paint_kind(k)));
		}
	ck_assert_uint_eq(paint_kind(PAINT_KINDS), paint_kind(0));
}

TEST(colours_of_the_terminal_map_to_themselves)
{
	ck_assert_uint_eq(paint_to_256(0x000000), 16);
	ck_assert_uint_eq(paint_to_256(0xffffff), 231);
	ck_assert_uint_eq(paint_to_256(0x5fafff), 16 + 36 + 3 * 6 + 5);
	ck_assert_uint_eq(paint_to_16(0xff0000), 9);
	ck_assert_uint_eq(paint_to_16(0x00cd00), 2);
}

TEST(signs_of_ascii_are_ascii)
{
	for (int i = 0; i <= 100; i++)
		ck_assert_uint_lt(paint_shade(PAINT_ASCII, i / 100.0), 0x7f);
	for (unsigned n = 0; n <= 9; n++) {
		ck_assert_uint_lt(paint_from_left(PAINT_ASCII, n), 0x7f);
		ck_assert_uint_lt(paint_from_below(PAINT_ASCII, n), 0x7f);
	}
	ck_assert_uint_lt(paint_none(PAINT_ASCII), 0x7f);
}

TEST(only_0_is_blank_and_no_value_is_like_the_mark_of_unknown)
{
	for (int glyphs = PAINT_ASCII; glyphs <= PAINT_BRAILLE; glyphs++) {
		ck_assert_uint_eq(paint_shade(glyphs, 0), ' ');
		for (int i = 1; i <= 1000; i++) {
			ck_assert_uint_ne(paint_shade(glyphs, i / 1000.0), ' ');
			ck_assert_uint_ne(paint_shade(glyphs, i / 1000.0), paint_none(glyphs));
		}
		for (unsigned n = 1; n <= 9; n++) {
			ck_assert_uint_ne(paint_from_left(glyphs, n), ' ');
			ck_assert_uint_ne(paint_from_below(glyphs, n), ' ');
		}
	}
}

TEST(glyphs_follow_the_option_or_the_locale)
{
	enum paint_glyphs g = PAINT_BRAILLE;

	ck_assert_int_eq(paint_glyphs("ascii", &g), 0);
	ck_assert_int_eq(g, PAINT_ASCII);
	setenv("LC_ALL", "C.UTF-8", 1);
	ck_assert_int_eq(paint_glyphs("auto", &g), 0);
	ck_assert_int_eq(g, PAINT_BLOCKS);
	setenv("LC_ALL", "C", 1);
	ck_assert_int_eq(paint_glyphs("auto", &g), 0);
	ck_assert_int_eq(g, PAINT_ASCII);
	g = PAINT_BRAILLE;
	ck_assert_int_eq(paint_glyphs("Blocks", &g), -ERR_INVALID);
	ck_assert_int_eq(g, PAINT_BRAILLE);
}

TEST(the_depth_of_colour_follows_the_terminal)
{
	static const struct {
		const char *color, *term;
		enum paint_depth depth;
	} row[] = { { "truecolor", "xterm", PAINT_TRUE },
		    { "24bit", "dumb", PAINT_TRUE },
		    { "", "screen-256color", PAINT_256 },
		    { "", "linux", PAINT_16 },
		    { "", "dumb", PAINT_16 },
		    { "", "", PAINT_16 } };

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		setenv("COLORTERM", row[i].color, 1);
		setenv("TERM", row[i].term, 1);
		ck_assert_int_eq(paint_depth(true), row[i].depth);
		ck_assert_int_eq(paint_depth(false), PAINT_MONO);
	}
}

SUITE("tools/chart/paint")
