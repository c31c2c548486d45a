/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "tests/suite.h"
#include "tools/chart/dots.h"
#include "tools/chart/grid.h"

static void check_lines(const struct grid *g, enum paint_depth depth, const char *want)
{
	struct buf out = BUF_INIT(1 << 20);

	ck_assert_int_eq(grid_print(g, depth, &out), 0);
	ck_assert_str_eq(buf_str(&out), want);
	buf_done(&out);
}

TEST(a_grid_has_a_limit)
{
	ck_assert_ptr_null(grid_new(0, 5));
	ck_assert_ptr_null(grid_new(5, 0));
	ck_assert_ptr_null(grid_new(65536, 65536));
}

TEST(cells_outside_are_ignored)
{
	struct grid *g = grid_new(1, 3);

	grid_put(g, 1, 0, (struct grid_cell){ 'x', 0, 0, true });
	grid_put(g, 0, 3, (struct grid_cell){ 'x', 0, 0, true });
	ck_assert_uint_eq(grid_get(g, 7, 7).sign, ' ');
	ck_assert_uint_eq(grid_text(g, (struct grid_span){ 0, 1, 9 }, "abcdef", PAINT_NO_INK), 6);
	check_lines(g, PAINT_MONO, " ab\n");
	grid_free(g);
}

TEST(text_is_cut_by_columns_and_control_characters_are_replaced)
{
	struct grid *g = grid_new(4, 8);

	grid_text(g, (struct grid_span){ 0, 0, 3 }, "\xce\xb1\xce\xb2\xce\xb3\xce\xb4",
		  PAINT_NO_INK);
	grid_text(g, (struct grid_span){ 1, 0, 8 }, "a\033[2Jb", PAINT_NO_INK);
	grid_text(g, (struct grid_span){ 2, 0, 8 }, "\xff\xfe", PAINT_NO_INK);
	grid_text_left_of(g, (struct grid_span){ 3, 8, 4 }, "\xe6\xbc\xa2z", PAINT_NO_INK);
	check_lines(g, PAINT_MONO, "\xce\xb1\xce\xb2\xce\xb3\na?[2Jb\n??\n      ?z\n");
	grid_free(g);
}

TEST(colours_are_written_where_they_change)
{
	struct grid *g = grid_new(1, 6);

	grid_text(g, (struct grid_span){ 0, 0, 6 }, "a", PAINT_NO_INK);
	grid_text(g, (struct grid_span){ 0, 1, 6 }, "bc", 0xff0000);
	grid_put(g, 0, 3, (struct grid_cell){ ' ', PAINT_NO_INK, 0x0000ff, true });
	check_lines(g, PAINT_MONO, "abc\n");
	check_lines(g, PAINT_16, "a\033[0;91mbc\033[0;1;44m \033[0m\n");
	check_lines(g, PAINT_256, "a\033[0;38;5;196mbc\033[0;1;48;5;21m \033[0m\n");
	check_lines(g, PAINT_TRUE, "a\033[0;38;2;255;0;0mbc\033[0;1;48;2;0;0;255m \033[0m\n");
	grid_free(g);
}

TEST(a_full_buffer_is_reported)
{
	struct grid *g = grid_new(2, 9);
	struct buf out = BUF_INIT(4);

	grid_text(g, (struct grid_span){ 0, 0, 9 }, "123456789", PAINT_NO_INK);
	ck_assert_int_eq(grid_print(g, PAINT_MONO, &out), -ERR_LIMIT);
	buf_done(&out);
	grid_free(g);
}

static void check_dots(enum paint_glyphs glyphs, const char *want)
{
	struct grid *g = grid_new(2, 4);
	struct dots *d = dots_new(grid_all(g), glyphs);
	unsigned from[2] = { 0, 0 }, to[2] = { dots_across(d) - 1, dots_down(d) - 1 };

	dots_line(d, from, to, PAINT_NO_INK, 0);
	dots_set(d, 1000, 1000, PAINT_NO_INK, 0);
	dots_draw(d, g);
	check_lines(g, PAINT_MONO, want);
	dots_free(d);
	grid_free(g);
}

TEST(a_line_goes_from_corner_to_corner)
{
	check_dots(PAINT_ASCII, "'.\n  '.\n");
	check_dots(PAINT_BLOCKS, "\xe2\x96\x80\xe2\x96\x84\n  \xe2\x96\x80\xe2\x96\x84\n");
	check_dots(PAINT_BRAILLE, "\xe2\xa0\x91\xe2\xa2\x84\n  \xe2\xa0\x91\xe2\xa2\x84\n");
}

SUITE("tools/chart/grid")
