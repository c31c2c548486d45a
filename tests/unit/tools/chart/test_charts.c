/* SPDX-License-Identifier: Apache-2.0 */
/* Charts as they are on a terminal, in each set of signs. */
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "tests/suite.h"
#include "tools/chart/bars.h"
#include "tools/chart/heat.h"
#include "tools/chart/lines.h"

#include <math.h>

static const struct paint ascii = { PAINT_ASCII, PAINT_MONO };
static const struct paint blocks = { PAINT_BLOCKS, PAINT_MONO };
static const struct paint colored = { PAINT_BLOCKS, PAINT_TRUE };

static void check_lines(const struct grid *g, const char *want)
{
	struct buf out = BUF_INIT(1 << 20);

	ck_assert_int_eq(grid_print(g, PAINT_MONO, &out), 0);
	ck_assert_str_eq(buf_str(&out), want);
	buf_done(&out);
}

/* --- curves */

static const struct lines_point up[] = { { 0, 0 }, { 10, 10 } };
static const struct lines_point gap[] = { { 0, 5 }, { 3, 5 }, { 4, NAN }, { 7, 5 }, { 10, 5 } };

TEST(a_curve_has_its_axes_and_its_title)
{
	struct lines_curve c = { "", up, 2, false };
	struct lines l = { .title = "rise", .x_name = "s", .y_name = "", .curve = &c, .n = 1 };
	struct grid *g = grid_new(9, 30);

	ck_assert_int_eq(lines_draw(g, grid_all(g), &l, &ascii), 0);
	check_lines(g, "rise\n"
		       "      10|                 ****\n"
		       "        |             ****\n"
		       "       4|        *****\n"
		       "        |    ****\n"
		       "       0|****\n"
		       "        +---------------------\n"
		       "         0   2   4   6   8  10\n"
		       "                             s\n");
	grid_free(g);
}

TEST(a_missing_value_is_a_gap)
{
	struct lines_curve c = { "", gap, ARRAY_LEN(gap), false };
	struct lines l = { .title = "", .x_name = "", .y_name = "v", .curve = &c, .n = 1 };
	struct grid *g = grid_new(6, 31);
	unsigned row = 0, holes = 0;

	ck_assert_int_eq(lines_draw(g, grid_all(g), &l, &ascii), 0);
	while (row < 6 && grid_get(g, row, 10).sign != '*')
		row++;
	ck_assert_uint_lt(row, 6);
	for (unsigned col = PLOT_LABEL_COLS; col < 31; col++)
		holes += grid_get(g, row, col).sign == ' ';
	ck_assert_uint_ge(holes, 7);
	ck_assert_uint_le(holes, 9);
	grid_free(g);
}

TEST(curves_differ_without_colour)
{
	struct lines_curve c[] = { { "send", up, 2, false }, { "wait", gap, 2, false } };
	struct lines l = { .title = "t", .x_name = "", .y_name = "", .curve = c, .n = 2 };
	struct grid *g = grid_new(8, 40);
	struct buf out = BUF_INIT(1 << 16);

	ck_assert_int_eq(lines_draw(g, grid_all(g), &l, &blocks), 0);
	ck_assert_int_eq(grid_print(g, PAINT_MONO, &out), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "a send"));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "b wait"));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "bbbb"));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "aaa"));
	buf_done(&out);
	grid_free(g);
}

TEST(a_chart_without_values_reports_that)
{
	struct lines l = { .title = "t", .x_name = "", .y_name = "" };
	struct grid *g = grid_new(6, 40);
	struct buf out = BUF_INIT(1 << 16);

	ck_assert_int_eq(lines_draw(g, grid_all(g), &l, &ascii), 0);
	ck_assert_int_eq(grid_print(g, PAINT_MONO, &out), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "no values"));
	buf_done(&out);
	grid_free(g);
}

/* Any values in an area of any size: only cells of the area change. */
TEST(charts_stay_in_their_area)
{
	struct lines_point point[40];
	struct lines_curve c = { "n", point, ARRAY_LEN(point), false };
	struct lines l = { .title = "t", .x_name = "x", .y_name = "y", .curve = &c, .n = 1 };
	struct rng r;

	rng_init(&r, suite_seed(41));
	for (int i = 0; i < 3000; i++) {
		struct grid *g = grid_new(30, 80);
		struct grid_area a = { 3, 5, (unsigned)rng_below(&r, 24),
				       (unsigned)rng_below(&r, 70) };
		double k = pow(10, (double)rng_below(&r, 600) - 300);

		l.is_log_x = rng_below(&r, 2);
		l.is_log_y = rng_below(&r, 2);
		for (size_t n = 0; n < ARRAY_LEN(point); n++)
			point[n] = (struct lines_point){
				(double)n, rng_below(&r, 9) ? (rng_double(&r) - 0.3) * k : INFINITY
			};
		ck_assert_int_ne(lines_draw(g, a, &l, rng_below(&r, 2) ? &colored : &ascii),
				 -ERR_NOMEM);
		for (unsigned row = 0; row < 30; row++)
			for (unsigned col = 0; col < 80; col++)
				if (row < a.row || row >= a.row + a.rows || col < a.col ||
				    col >= a.col + a.cols)
					ck_assert_uint_eq(grid_get(g, row, col).sign, ' ');
		grid_free(g);
	}
}

/* --- bars */

TEST(bars_are_in_proportion_and_unknown_is_a_hatch)
{
	static const struct bar bar[] = { { "rank 0", 1, "1 s" },
					  { "rank 1", 4, "4 s" },
					  { "rank 2", NAN, "unknown" },
					  { "rank 3", 0, "0 s" },
					  { "rank 4", 0.001, "1 ms" } };
	struct grid *g = grid_new(5, 32);

	bars_draw(g, grid_all(g), bar, 5, &ascii);
	check_lines(g, "rank 0 ####- 1 s\n"
		       "rank 1 ################# 4 s\n"
		       "rank 2 /// unknown\n"
		       "rank 3  0 s\n"
		       "rank 4 - 1 ms\n");
	grid_free(g);
	g = grid_new(3, 32);
	bars_draw(g, grid_all(g), bar, 5, &blocks);
	check_lines(g,
		    "rank 0 \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x8e 1 s\n"
		    "rank 1 \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96"
		    "\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"
		    "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88 4 s\n"
		    "3 more\n");
	grid_free(g);
}

TEST(a_histogram_shows_each_bin)
{
	static const struct bars_bin bin[] = { { 0, 1, 1 }, { 1, 2, 4 }, { 2, 3, 2 } };
	struct bars_histogram h = { { .title = "wait", .x_name = "", .y_name = "" }, bin, 3 };
	struct grid *g = grid_new(7, 27);

	ck_assert_int_eq(bars_histogram_draw(g, grid_all(g), &h, &ascii), 0);
	check_lines(g, "wait\n"
		       "        |      #####\n"
		       "       2|      #####\n"
		       "        |      ###########\n"
		       "       0|#################\n"
		       "        +------------------\n"
		       "         0    1     2     3\n");
	grid_free(g);
}

TEST(a_spark_ends_with_the_newest_value)
{
	static const double v[] = { 9, 1, NAN, 8 };
	struct bars_spark s = { v, 4, 8, PAINT_NO_INK };
	struct grid *g = grid_new(1, 5);

	bars_spark_draw(g, (struct grid_span){ 0, 0, 3 }, &s, &ascii);
	check_lines(g, "./#\n");
	grid_free(g);
}

/* --- heat */

TEST(a_map_has_names_cells_and_its_scale)
{
	static const char *const name[] = { "r0", "r1" };
	static const double v[] = { 0, 0.5, 1, 1, NAN, 0 };
	struct heat h = { name, 2, 3, v, 0, 1, "s/s" };
	struct grid *g = grid_new(3, 40);

	ck_assert_int_eq(heat_draw(g, grid_all(g), &h, &ascii), 0);
	check_lines(g, "r0  +@\n"
		       "r1 @/\n"
		       "   0  :-=+*#%@@ 1 s/s  / unknown\n");
	grid_free(g);
}

TEST(a_row_of_several_objects_shows_the_worst)
{
	static const char *const name[] = { "r0", "r1", "r2", "r3" };
	static const double v[] = { 0, 1, NAN, NAN };
	struct heat h = { name, 4, 1, v, 0, 1, "" };
	struct grid *g = grid_new(3, 40);

	ck_assert_int_eq(heat_draw(g, grid_all(g), &h, &ascii), 0);
	ck_assert_uint_eq(grid_get(g, 0, 3).sign, '@');
	ck_assert_uint_eq(grid_get(g, 1, 3).sign, '/');
	grid_free(g);
}

TEST(small_areas_are_refused)
{
	struct heat h = { NULL, 0, 0, NULL, 0, 1, "" };
	struct lines l = { .title = "", .x_name = "", .y_name = "" };
	struct bars_histogram b = { { .title = "", .x_name = "", .y_name = "" }, NULL, 0 };
	struct grid *g = grid_new(3, 10);

	ck_assert_int_eq(heat_draw(g, grid_all(g), &h, &ascii), -ERR_LIMIT);
	ck_assert_int_eq(lines_draw(g, grid_all(g), &l, &ascii), -ERR_LIMIT);
	ck_assert_int_eq(bars_histogram_draw(g, grid_all(g), &b, &ascii), -ERR_LIMIT);
	grid_free(g);
}

SUITE("tools/chart")
