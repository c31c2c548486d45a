/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "common/base/array.h"
#include "neko/cmd/neko_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static unsigned logs;

static int draw(const char *text, struct buf *out, struct err *e)
{
	struct json_object *results = NULL;
	int rc = results_parse(text, strlen(text), &results, e);

	if (!rc)
		rc = neko_plot_draw(results, logs, out, e);
	results_free(results);
	return rc;
}

/* For any numbers, places are inside of the picture, and none is nan or inf. */
TEST(any_numbers_stay_in_the_picture)
{
	static const char *const text[] = {
		"{\"world\":\"x\",\"quantities\":[]}",
		"{\"world\":\"x\",\"quantities\":[1,null,{},{\"n\":1},{\"n\":1,\"histogram\":[{}]}]"
		"}",
		"{\"world\":\"x\",\"quantities\":[{\"name\":\"q\",\"n\":3,\"mean\":1e308,"
		"\"histogram\":"
		"[{\"from\":-1e308,\"to\":1e308,\"count\":1e308},{\"from\":5,\"to\":-5,\"count\":-"
		"1}]}],"
		"\"series\":{\"q\":[[1e308,-1e308],[0,1],[],7,[null,null]]}}",
		"{\"world\":\"x\",\"quantities\":[{\"name\":\"q\",\"n\":1,\"mean\":4,\"histogram\":"
		"[{\"from\":4,\"to\":4,\"count\":1}]}],\"series\":{\"q\":[[2,4]]}}",
		"{\"world\":\"x\",\"quantities\":[],\"trace\":{\"messages\":[[1,2,0,1,\"t\"],[0,2,"
		"0,1],[1,65,"
		"0,1],[1.5,2,0,1],[1,1,0,1],[2,1,1e300,-1e300,\"t\"],[2,1,0,null],[],3],\"events\":"
		"[[1,0."
		"5,\"crash\",0],[9,2,\"a\"],[1,null,\"b\"],\"c\"]}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(text); i++) {
		struct buf b = BUF_INIT(1 << 20);
		struct err e = { 0 };

		ck_assert_msg(draw(text[i], &b, &e) == 0, "row %zu: %s", i, e.text);
		ck_assert_msg(!strstr((char *)b.p, "\"nan") && !strstr((char *)b.p, " nan") &&
				      !strstr((char *)b.p, "Mnan") &&
				      !strstr((char *)b.p, "\"inf") && !strstr((char *)b.p, "\"-"),
			      "row %zu: %s", i, (char *)b.p);
		ck_assert_msg(b.n > 20 && memcmp(b.p + b.n - 7, "</svg>\n", 7) == 0, "row %zu", i);
		buf_done(&b);
	}
}

TEST(invalid_results_are_refused)
{
	static const char *const text[] = { "7", "[]", "{}", "{\"quantities\":[]}",
					    "{\"quantities\":{},\"world\":\"x\"}" };

	for (size_t i = 0; i < ARRAY_LEN(text); i++) {
		struct buf b = BUF_INIT(1 << 20);
		struct err e = { 0 };

		ck_assert_int_eq(draw(text[i], &b, &e), -ERR_INVALID);
		ck_assert_msg(strstr(e.text, "omig neko run -o"), "%s", e.text);
		buf_done(&b);
	}
}

TEST(a_small_picture_has_no_room_for_a_large_one)
{
	struct buf b = BUF_INIT(300);
	struct err e = { 0 };

	ck_assert_int_eq(draw("{\"world\":\"x\",\"quantities\":[]}", &b, &e), -ERR_LIMIT);
	buf_done(&b);
}

/* --- sweeps, and two runs */

#define CELL(mean, half)                                                        \
	"\"quantities\":[{\"name\":\"q\",\"unit\":\"s\",\"n\":2,\"mean\":" mean \
	",\"half_95\":" half "}]}"
#define ROW(a, b, mean, half) "{\"set\":{\"a\":\"" a "\",\"b\":\"" b "\"}," CELL(mean, half)

static void draw_to(const char *text, unsigned axes, struct buf *b)
{
	struct err e = { 0 };

	logs = axes;
	ck_assert_msg(draw(text, b, &e) == 0, "%s", e.text);
	logs = 0;
	ck_assert_ptr_null(strstr((char *)b->p, "nan"));
	ck_assert_ptr_null(strstr((char *)b->p, "inf"));
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

static const char sweep[] =
	"{\"keys\":[\"a\",\"b\"],\"points\":4,\"sweep\":[" ROW("10ms", "1", "3", "0.5") "," ROW(
		"1s", "1", "5", "0.5") "," ROW("10ms", "2", "0", "0.1") "," ROW("1s", "2", "7",
										"null") "]}";

TEST(a_sweep_is_a_curve_for_each_combination_of_the_other_keys)
{
	struct buf b = BUF_INIT(1 << 20);
	const char *text;

	draw_to(sweep, 0, &b);
	text = (char *)b.p;
	ck_assert_uint_eq(count(text, "<path class=\"curve c0\""), 2); /* and in the legend */
	ck_assert_uint_eq(count(text, "<path class=\"curve c1\""), 2);
	ck_assert_uint_eq(count(text, "<circle "), 4);
	ck_assert_uint_eq(count(text, "<path class=\"interval"), 3); /* of one it is not known */
	ck_assert_ptr_nonnull(strstr(text, ">b=1</text>"));
	ck_assert_ptr_nonnull(strstr(text, ">b=2</text>"));
	ck_assert_ptr_nonnull(strstr(text, ">a (s)</text>"));
	ck_assert_ptr_nonnull(strstr(text, ">q (s)</text>"));
	ck_assert_ptr_nonnull(strstr(text, "a sweep: 4 of 4 runs</text>"));
	ck_assert_ptr_null(strstr(text, "outside of these axes"));
	buf_done(&b);
}

TEST(axes_by_powers_of_ten_leave_out_and_report_other_values)
{
	struct buf b = BUF_INIT(1 << 20);

	draw_to(sweep, PLOT_LOG_X | PLOT_LOG_Y, &b);
	ck_assert_ptr_nonnull(strstr((char *)b.p, "1 point outside of these axes"));
	ck_assert_ptr_nonnull(strstr((char *)b.p, ">0.1</text>")); /* of 10 ms to 1 s */
	ck_assert_uint_eq(count((char *)b.p, "<circle "), 3);
	buf_done(&b);
}

TEST(values_that_are_no_numbers_are_adjacent)
{
	struct buf b = BUF_INIT(1 << 20);

	draw_to("{\"keys\":[\"a\"],\"points\":2,\"sweep\":["
		"{\"set\":{\"a\":\"tree\"}," CELL("3", "1") ",{\"set\":{\"a\":\"<ring>\"}," CELL(
			"4", "1") "]}",
		PLOT_LOG_X, &b);
	ck_assert_ptr_nonnull(strstr((char *)b.p, ">tree</text>"));
	ck_assert_ptr_nonnull(strstr((char *)b.p, ">&lt;ring&gt;</text>"));
	buf_done(&b);
}

TEST(an_invalid_sweep_is_refused)
{
	static const char *const text[] = {
		"{\"sweep\":[]}",
		"{\"keys\":[\"a\"],\"sweep\":[]}",
		"{\"keys\":[],\"sweep\":[{}]}",
		"{\"keys\":[\"a\",\"b\",\"c\",\"d\",\"e\"],\"sweep\":[{}]}",
		"{\"keys\":[\"a\"],\"sweep\":[{},7,null,[]]}",
		"{\"keys\":[7],\"sweep\":[{\"quantities\":[{\"n\":0}]}]}",
	};

	for (size_t i = 0; i < ARRAY_LEN(text); i++) {
		struct buf b = BUF_INIT(1 << 20);
		struct err e = { 0 };

		ck_assert_msg(draw(text[i], &b, &e) == -ERR_INVALID, "row %zu", i);
		buf_done(&b);
	}
}

static int draw_two(const char *first, const char *second, struct buf *b, struct err *e)
{
	struct plot_run run[2] = { { .name = "x/sim.json" }, { .name = "real.json" } };
	int rc;

	ck_assert_int_eq(results_parse(first, strlen(first), &run[0].results, e), 0);
	ck_assert_int_eq(results_parse(second, strlen(second), &run[1].results, e), 0);
	rc = neko_plot_draw_two(run, 0, b, e);
	results_free(run[0].results);
	results_free(run[1].results);
	return rc;
}

#define RUN(world, name, more)                                       \
	"{\"world\":\"" world "\",\"quantities\":[{\"name\":\"" name \
	"\",\"unit\":\"s\",\"n\":4," more "}]}"

TEST(two_runs_are_over_each_other)
{
	static const char cdf[] = RUN("simulated", "q", "\"cdf\":[[1,0],[2,0.5],[4,1]]");
	static const char bins[] = RUN("real", "q",
				       "\"histogram\":[{\"from\":0,\"to\":2,\"count\":1},"
				       "{\"from\":2,\"to\":4,\"count\":3}]");
	struct buf b = BUF_INIT(1 << 20);
	struct err e = { 0 };

	ck_assert_int_eq(draw_two(cdf, bins, &b, &e), 0);
	ck_assert_ptr_nonnull(strstr((char *)b.p, ">sim.json: simulated, n = 4</text>"));
	ck_assert_ptr_nonnull(strstr((char *)b.p, ">real.json: real, n = 4</text>"));
	/* (1, 0), (2, 1/2), (4, 1) and (0, 0), (2, 1/4), (4, 1) of 640 by 190 */
	ck_assert_ptr_nonnull(strstr((char *)b.p, "M0 0M230.0 294.0L390.0 199.0L710.0 104.0\""));
	ck_assert_ptr_nonnull(strstr((char *)b.p, "M0 0M70.0 294.0L390.0 246.5L710.0 104.0\""));
	buf_done(&b);
}

TEST(quantities_of_one_run_have_a_curve_and_none_is_refused)
{
	struct buf b = BUF_INIT(1 << 20);
	struct err e = { 0 };

	ck_assert_int_eq(draw_two(RUN("simulated", "q", "\"cdf\":[[1,0],[2,1]]"),
				  RUN("real", "r", "\"cdf\":[[3,0],[null,0.5],7,[5,1]]"), &b, &e),
			 0);
	ck_assert_uint_eq(count((char *)b.p, "share of values up to x"), 2);
	ck_assert_ptr_nonnull(strstr((char *)b.p, "2 points outside of these axes"));
	buf_clear(&b);
	ck_assert_int_eq(draw_two("{\"world\":\"x\",\"quantities\":[]}",
				  "{\"world\":\"x\",\"quantities\":[{},7]}", &b, &e),
			 -ERR_INVALID);
	ck_assert_int_eq(draw_two(sweep, sweep, &b, &e), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(e.text, "x/sim.json is a sweep"));
	ck_assert_int_eq(draw_two("{}", "{}", &b, &e), -ERR_INVALID);
	buf_done(&b);
}

/* --- axes */

static void ticks_are(double from, double to, const char *words)
{
	struct axis a = axis_of(from, to, 0, 100, true);
	struct buf b = BUF_INIT(1 << 16);
	char found[256] = "";

	svg_ticks_x(&b, &a, 0, 10);
	for (const char *at = (char *)b.p; (at = strstr(at, "\"middle\">")); at++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%.*s ",
			 (int)strcspn(at + 9, "<"), at + 9);
	ck_assert_str_eq(found, words);
	buf_done(&b);
}

TEST(ticks_of_powers_of_ten)
{
	ticks_are(0.01, 1000, "0.01 0.1 1 10 100 1000 ");
	ticks_are(3, 40, "5 10 20 ");
	ticks_are(4, 5, "4 4.2 4.4 4.6 4.8 5 ");
	ticks_are(1e-12, 1e12, "1e-12 1e-09 1e-06 0.001 1 1000 1e+06 1e+09 1e+12 ");
	ticks_are(-1, 5, "0.5 1 2 ");
	ticks_are((double)NAN, (double)INFINITY, "0.5 1 2 ");
}

SUITE("neko_plot")
