/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a quantity, in each form. */
#include "stats/batches.h"
#include "common/base/array.h"
#include "stats/report.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

static struct quantity *q;
static struct buf out;

static void open_all(void)
{
	struct quantity_options w = {
		.name = "a \"b\",\n", .unit = "ms", .kind = QUANTITY_VALUES, .drop_count = 1
	};

	out = BUF_INIT(1 << 20);
	ck_assert_int_eq(stop_parse("n >= 4", &w.stop, NULL), 0);
	ck_assert_int_eq(quantity_open(&w, &q, NULL), 0);
}

static void close_all(void)
{
	quantity_free(q);
	buf_done(&out);
}

/* 99 is dropped; 1 2 3 4 5 have the mean 3 and the variance 2.5. */
static void add_five(void)
{
	quantity_add(q, 99);
	for (int i = 1; i <= 5; i++)
		quantity_add(q, i);
	quantity_add(q, NAN);
}

static void expect(const char *text)
{
	ck_assert_msg(strstr(buf_str(&out), text) != NULL, "no '%s' in:\n%s", text, buf_str(&out));
}

TEST(the_text_report_is_escaped_and_lists_omissions)
{
	struct report_options w = report_usual;

	w.lags = 1;
	w.histogram = true;
	w.bins = 2;
	add_five();
	report_text(q, &w, &out);
	expect("a \\\"b\\\",\\n [ms]: 5 values, 1 dropped, 1 not finite\n");
	/* t(4, 0.975) = 2.7764, over sqrt(2.5 / 5). */
	expect("  mean                3 +- 1.963 (65.4 %) at 95 %\n");
	expect("  variance            2.5\n");
	expect("  median              3\n");
	expect("  autocorrelation 1   0.4\n");
	expect("             1             3           2 #################################\n");
	expect("  reached             n >= 4\n");
}

TEST(nothing_is_no_number)
{
	report_text(q, &report_usual, &out);
	expect("0 values\n");
	expect("  mean                - +- - at 95 %\n");
	expect("  median              -\n");
	expect("  not reached         n >= 4\n");
}

static unsigned commas(const char *s)
{
	unsigned n = 0;

	for (bool is_quoted = false; *s; s++) {
		is_quoted ^= *s == '"';
		n += !is_quoted && *s == ',';
	}
	return n;
}

TEST(csv_has_as_many_cells_as_names)
{
	unsigned head;

	report_csv_head(&report_usual, &out);
	head = commas(buf_str(&out));
	buf_clear(&out);
	report_csv(q, &report_usual, &out);
	ck_assert_uint_eq(commas(buf_str(&out)), head);
	buf_clear(&out);
	add_five();
	report_csv(q, &report_usual, &out);
	ck_assert_uint_eq(commas(buf_str(&out)), head);
	expect("\"a \"\"b\"\",\n\",ms,5,1,1,3,0.95,1.96324316147");
}

TEST(json_has_null_for_what_is_not_defined)
{
	struct report_options w = report_usual;
	struct json j;

	json_init(&j, &out);
	report_json(q, &w, &j);
	ck_assert_int_eq(json_end(&j), 0);
	expect("\"n\":0,");
	expect("\"mean\":null,");
	buf_clear(&out);
	w.lags = 2;
	w.histogram = true;
	add_five();
	json_init(&j, &out);
	report_json(q, &w, &j);
	ck_assert_int_eq(json_end(&j), 0);
	expect("{\"name\":\"a \\\"b\\\",\\u000a\",\"unit\":\"ms\",\"n\":5,\"dropped\":1,\"not_finite\":1,\"mean\":3,");
	expect("\"autocorrelation\":[0.4,-0.1");
	expect("\"stop\":{\"rule\":\"n >= 4\",\"reached\":true}");
}

/* t(4, 0.975) times the root of 2.5 / 5, and that of 2.5. */
#define HALF "1.9632431614775572"
#define DEVIATION "1.5811388300841898"
#define THIRTY "##############################"

/* Ascending in both, from the least value to the greatest. */
TEST(shares_of_values_end_at_both_ends)
{
	struct report_options w = report_usual;
	const char *at;
	double v, p, last_v = 0, last_p = -1;
	struct json j;
	size_t n = 0;

	w.cdf = true;
	add_five();
	json_init(&j, &out);
	report_json(q, &w, &j);
	ck_assert_int_eq(json_end(&j), 0);
	at = strstr(buf_str(&out), "\"cdf\":[");
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(strncmp(at, "\"cdf\":[[1,0],", 13), 0);
	for (at += 7; sscanf(at, "[%lf,%lf]", &v, &p) == 2; at = strchr(at, ']') + 2, n++) {
		ck_assert_double_ge(v, last_v);
		ck_assert_double_gt(p, last_p);
		last_v = v;
		last_p = p;
	}
	ck_assert_double_eq(last_v, 5);
	ck_assert_double_eq(last_p, 1);
	ck_assert_uint_eq(n, 109);
}

TEST(all_formats_have_all_statistics)
{
	struct report_options w = report_usual;
	struct json j;

	w.lags = 2;
	w.histogram = true;
	w.bins = 2;
	add_five();
	json_init(&j, &out);
	report_json(q, &w, &j);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_str_eq(
		buf_str(&out),
		"{\"name\":\"a \\\"b\\\",\\u000a\",\"unit\":\"ms\",\"n\":5,\"dropped\":1,"
		"\"not_finite\":1,\"mean\":3,\"level\":0.95,\"half\":" HALF ",\"batches\":{"
		"\"n\":5,\"size\":1,\"mean\":3,\"half\":" HALF ",\"independent\":false},"
		"\"deviation\":" DEVIATION ",\"variance\":2.5,\"skewness\":0,"
		"\"kurtosis\":-1.912,\"min\":1,\"max\":5,\"serial_correlation\":0.4,"
		"\"quantiles\":[{\"p\":0.05,\"value\":1.2,\"error\":0},"
		"{\"p\":0.25,\"value\":2,\"error\":0},{\"p\":0.5,\"value\":3,\"error\":0},"
		"{\"p\":0.75,\"value\":4,\"error\":0},{\"p\":0.95,\"value\":4.8,\"error\":0},"
		"{\"p\":0.99,\"value\":4.96,\"error\":0}],\"autocorrelation\":[0.4,-0.1],"
		"\"histogram\":[{\"from\":1,\"to\":3,\"count\":2},"
		"{\"from\":3,\"to\":5,\"count\":3}],"
		"\"stop\":{\"rule\":\"n >= 4\",\"reached\":true},\"warnings\":[]}");
	buf_clear(&out);
	report_csv_head(&w, &out);
	report_csv(q, &w, &out);
	ck_assert_str_eq(buf_str(&out),
			 "name,unit,n,dropped,not_finite,mean,level,half,half_by_batches,"
			 "deviation,variance,skewness,kurtosis,min,max,serial_correlation,"
			 "q0.05,q0.25,q0.5,q0.75,q0.95,q0.99,reached,dependence\n"
			 "\"a \"\"b\"\",\n\",ms,5,1,1,3,0.95," HALF "," HALF "," DEVIATION
			 ",2.5,0,-1.912,1,5,0.4,1.2,2,3,4,4.8,4.96,1,0\n");
	buf_clear(&out);
	report_text(q, &w, &out);
	ck_assert_str_eq(buf_str(&out),
			 "a \\\"b\\\",\\n [ms]: 5 values, 1 dropped, 1 not finite\n"
			 "  mean                3 +- 1.963 (65.4 %) at 95 %\n"
			 "  by batches          3 +- 1.963 (65.4 %), 5 batches of 1\n"
			 "  std. deviation      1.58113883\n"
			 "  variance            2.5\n"
			 "  skewness            0\n"
			 "  kurtosis            -1.912\n"
			 "  min                 1\n"
			 "  max                 5\n"
			 "  serial correlation  0.4\n"
			 "  quantile 0.05       1.2\n"
			 "  quantile 0.25       2\n"
			 "  median              3\n"
			 "  quantile 0.75       4\n"
			 "  quantile 0.95       4.8\n"
			 "  quantile 0.99       4.96\n"
			 "  autocorrelation 1   0.4\n"
			 "  autocorrelation 2   -0.1\n"
			 "             1             3           2 " THIRTY "###\n"
			 "             3             5           3 " THIRTY "####################\n"
			 "  reached             n >= 4\n");
}

static void expect_json(const char *text)
{
	struct json j;

	buf_clear(&out);
	json_init(&j, &out);
	report_json(q, &report_usual, &j);
	ck_assert_int_eq(json_end(&j), 0);
	expect(text);
}

TEST(values_that_follow_each_other_are_warned_of)
{
	static const char few[] = "too few values for an interval by batches";
	static const char more[] = "so are the means of batches: more values are needed";

	quantity_add(q, 0); /* is dropped */
	for (int i = 1; i < BATCHES_MAX / 2; i++)
		quantity_add(q, i);
	report_text(q, &report_usual, &out);
	expect(few);
	expect_json(few);
	expect_json("\"independent\":false");
	quantity_add(q, BATCHES_MAX);
	buf_clear(&out);
	report_text(q, &report_usual, &out);
	expect(more);
	ck_assert_ptr_null(strstr(buf_str(&out), few));
	expect_json(more);
}

TEST(values_without_order_have_independent_batches)
{
	uint32_t x = 1;

	for (int i = 0; i <= 4 * BATCHES_MAX; i++) {
		x = x * 1664525 + 1013904223;
		quantity_add(q, x >> 16);
	}
	expect_json("\"independent\":true");
}

SUITE_WITH("report", open_all, close_all)
