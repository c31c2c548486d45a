/* SPDX-License-Identifier: Apache-2.0 */
/* Words and pictures of omig watch. */
#include "tests/suite.h"
#include "tools/measure/charts_picture.h"

#include <math.h>

#define OBJECTS 12

static struct history *history;
static struct buf out;

static void set_up(void)
{
	history = history_new(100);
	out = BUF_INIT(1 << 20);
}

static void clean_up(void)
{
	history_free(history);
	buf_done(&out);
}

static struct charts_view view(enum charts_kind kind)
{
	return (struct charts_view){ .history = history,
				     .end = history_reads(history),
				     .kind = kind,
				     .metric = "Wait",
				     .unit = "B",
				     .paint = { PAINT_ASCII, PAINT_MONO } };
}

/* Read k of object i has the value k * i. */
static void fill(size_t reads)
{
	char name[16];

	for (size_t k = 0; k < reads; k++) {
		history_begin(history, (int64_t)k * 1000000000);
		for (size_t i = 0; i < OBJECTS; i++) {
			snprintf(name, sizeof(name), "rank%zu", i);
			history_set(history, name, (double)(k * i), 0);
		}
	}
}

static const char *words(const struct charts_view *v)
{
	buf_clear(&out);
	charts_words(v, &out);
	return buf_str(&out);
}

TEST(the_highest_object_is_named_with_the_median)
{
	struct charts_view v;

	fill(3);
	v = view(CHARTS_LINE);
	ck_assert_str_eq(words(&v),
			 "Wait: rank11 is highest with 22 B, the median of 12 is 12 B\n");
}

TEST(an_unknown_value_is_counted_and_never_the_highest)
{
	struct charts_view v;

	history_begin(history, 0);
	history_set(history, "a", NAN, 0);
	history_set(history, "b", -3, 0);
	history_set(history, "c", -5, 0);
	v = view(CHARTS_LINE);
	ck_assert_str_eq(words(&v),
			 "Wait: b is highest with -3 B, the median of 2 is -3 B, 1 unknown\n");
	history_begin(history, 1);
	v = view(CHARTS_LINE);
	ck_assert_str_eq(words(&v), "Wait: no value is known in this read\n");
}

TEST(one_object_needs_no_median)
{
	struct charts_view v;

	history_begin(history, 0);
	history_set(history, "all", 7, 0.5);
	v = view(CHARTS_LINE);
	ck_assert_str_eq(words(&v), "Wait: all is 7 B +-0.5 B\n");
}

TEST(a_histogram_is_described_by_its_largest_bucket)
{
	static const struct bars_bin bin[] = { { 0, 1, 3 }, { 1, 2, 9 } };
	struct charts_view v = view(CHARTS_HIST);

	v.bin = bin;
	v.nbin = 2;
	ck_assert_str_eq(words(&v), "Wait: 12 values, most of them (9) from 1 to 2 B\n");
}

/* Draws and returns the text. */
static const char *picture(enum charts_kind kind, unsigned rows, unsigned cols)
{
	struct charts_view v = view(kind);
	struct grid *g = grid_new(rows, cols);

	buf_clear(&out);
	ck_assert_int_eq(charts_picture(&v, g, grid_all(g)), 0);
	ck_assert_int_eq(grid_print(g, PAINT_MONO, &out), 0);
	grid_free(g);
	return buf_str(&out);
}

TEST(bars_show_the_last_read)
{
	const char *text;

	fill(2);
	text = picture(CHARTS_BAR, OBJECTS, 40);
	ck_assert_ptr_nonnull(strstr(text, "rank0  0 B\n"));
	ck_assert_ptr_nonnull(strstr(text, "rank11 ############################ 11 B\n"));
}

TEST(bands_enclose_all_objects)
{
	const char *text;

	fill(20);
	text = picture(CHARTS_BAND, 20, 90);
	ck_assert_ptr_nonnull(strstr(text, "a least  b 25 %  c median  d 75 %  e most"));
	ck_assert_ptr_nonnull(strstr(text, "eee"));
	ck_assert_ptr_nonnull(strstr(text, "aaa"));
}

TEST(a_map_has_a_row_for_each_object)
{
	const char *text;

	fill(5);
	text = picture(CHARTS_HEAT, OBJECTS + 1, 60);
	ck_assert_ptr_nonnull(strstr(text, " rank5  "));
	ck_assert_ptr_nonnull(strstr(text, "rank11  "));
	ck_assert_ptr_nonnull(strstr(text, "44 B  / unknown"));
}

TEST(sparks_have_one_scale)
{
	const char *text;

	fill(5);
	text = picture(CHARTS_SPARK, OBJECTS, 60);
	ck_assert_ptr_nonnull(strstr(text, "rank11"));
	ck_assert_ptr_nonnull(strstr(text, "44 B"));
	ck_assert_ptr_nonnull(strstr(text, "rank0                                    0 B\n"));
}

TEST(the_values_of_objects_have_a_histogram)
{
	double count = 0;
	const char *text;

	fill(2);
	text = picture(CHARTS_HIST, 12, 80);
	for (; *text; text++)
		count += *text == '#';
	ck_assert_double_gt(count, OBJECTS);
}

SUITE_WITH("tools/measure/charts", set_up, clean_up)
