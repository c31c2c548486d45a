/* SPDX-License-Identifier: Apache-2.0 */
/* Demands of services: known cases, missing information, and files of any content. */
#include "common/base/buf.h"
#include "model/estimate/estimate.h"
#include "tests/suite.h"

#include <math.h>

/* Two services of 3 and 5; the request of `b` at the end of the first period needs 2 more. */
static const char ends[] = "period,busy,a,b,completed:a,completed:b,elapsed\n"
			   "1,12,3,1,3,0,3\n"
			   "2,10,1,1,1,2,0\n"
			   "3,14,3,1,3,1,0\n"
			   "4,19,3,2,3,2,0\n"
			   "5,11,2,1,2,1,0\n"
			   "6,16,2,2,2,2,0\n";

static struct periods *read_text(const char *text)
{
	struct periods *p = NULL;
	struct err e = { 0 };

	ck_assert_msg(!periods_read(text, strlen(text), &p, &e), "%u:%u: %s", e.line, e.col,
		      e.text);
	return p;
}

TEST(a_file_has_its_services_in_the_order_of_columns)
{
	struct periods *p =
		read_text("# comment\nbegun:x y,response,\"a,\"\"b\"\n1,2.5,3\n\n4,5,6");

	ck_assert_uint_eq(p->k, 2);
	ck_assert_uint_eq(p->n, 2);
	ck_assert_str_eq(p->name[0], "x y");
	ck_assert_str_eq(p->name[1], "a,\"b");
	ck_assert_double_eq_tol(p->begun[1], 3, 1e-12);
	ck_assert_double_eq_tol(p->response[1], 5, 1e-12);
	ck_assert(!p->completed && !p->elapsed);
	periods_free(p);
}

static const struct {
	const char *text;
	unsigned line, col;
	const char *words;
} wrong[] = {
	{ "", 1, 1, "no line of names" },
	{ "# only\n", 2, 1, "no line of names" },
	{ "a,b\n1,2\n", 1, 1, "no column 'busy'" },
	{ "busy\n1\n", 1, 1, "no column counts" },
	{ "busy,a,a\n", 1, 8, "twice" },
	{ "busy,busy,a\n", 1, 6, "a second column" },
	{ "busy,a,completed:a,completed:b\n", 1, 1, "'b' began" },
	{ "busy,a,b,completed:b\n", 1, 1, "completed:a" },
	{ "busy,\n", 1, 6, "no printable name" },
	{ "busy,\"a\n", 1, 6, "no end" },
	{ "busy,a\n1\n", 2, 2, "1 fields, not 2" },
	{ "busy,a\n1,2,3\n", 2, 4, "more than 2 fields" },
	{ "busy,a\n1,x\n", 2, 3, "'x' of 'a' is not a number" },
	{ "busy,a\n1,\n", 2, 3, "not a number" },
	{ "busy,a\n1,nan\n", 2, 3, "not a number" },
	{ "busy,a\n1e300,1\n", 2, 1, "above" },
	{ "busy,a\n1,1\n-3,1\n", 3, 1, "negative: a counter wrapped" },
	{ "busy,a\n1,0x10\n", 2, 3, "not a number" },
};

TEST_EACH(a_wrong_file_is_refused_with_its_place, i, (int)ARRAY_LEN(wrong))
{
	struct periods *p = NULL;
	struct err e = { 0 };

	ck_assert_int_lt(periods_read(wrong[i].text, strlen(wrong[i].text), &p, &e), 0);
	ck_assert_msg(strstr(e.text, wrong[i].words), "'%s' has no '%s'", e.text, wrong[i].words);
	ck_assert_uint_eq(e.line, wrong[i].line);
	ck_assert_uint_eq(e.col, wrong[i].col);
	ck_assert(!p);
}

TEST(more_services_than_the_limit_are_refused)
{
	struct buf b = BUF_INIT(1 << 16);
	struct periods *p = NULL;
	struct err e = { 0 };

	for (int extra = 0; extra < 2; extra++) {
		buf_clear(&b);
		buf_puts(&b, "busy");
		for (int i = 0; i < LEAST_COLUMNS_MAX + extra; i++)
			buf_printf(&b, ",s%d", i);
		buf_puts(&b, "\n");
		ck_assert_int_eq(periods_read(buf_str(&b), b.n, &p, &e), extra ? -ERR_LIMIT : 0);
		if (!extra)
			periods_free(p);
	}
	buf_done(&b);
}

static void check_demands(const struct estimate *x, double a, double b, double tolerance)
{
	ck_assert_double_eq_tol(x->service[0].demand, a, tolerance);
	ck_assert_double_eq_tol(x->service[1].demand, b, tolerance);
}

TEST(known_ends_give_exact_demands)
{
	static const enum estimate_method methods[] = { ESTIMATE_ELAPSED, ESTIMATE_CONSTANT };
	struct periods *p = read_text(ends);
	struct estimate x;

	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		ck_assert_int_eq(estimate(p, methods[i], 0.9, &x, NULL), 0);
		check_demands(&x, 3, 5, 1e-6);
		ck_assert(x.service[0].low <= 3 && 3 <= x.service[0].high);
		ck_assert(x.service[1].low <= 5 && 5 <= x.service[1].high);
	}
	periods_free(p);
}

TEST(the_service_at_an_end_follows_from_counts)
{
	struct periods *p = read_text(ends);
	int in[7];

	ck_assert_int_eq(periods_in_service(p, in, NULL), 0);
	ck_assert_int_eq(in[0], -1);
	ck_assert_int_eq(in[1], 1);
	ck_assert_int_eq(in[2], -1);
	periods_free(p);
}

/* The first request of a began before the first period. */
TEST(a_request_before_the_first_period_is_found)
{
	struct periods *p = read_text("busy,a,completed:a\n5,1,2\n5,2,1\n5,1,2\n");
	struct err e = { 0 };
	struct estimate x;
	int in[4];

	ck_assert_int_eq(periods_in_service(p, in, NULL), 0);
	ck_assert_int_eq(in[0], 0);
	ck_assert_int_eq(in[1], -1);
	ck_assert_int_eq(in[2], 0);
	ck_assert_int_eq(estimate(p, ESTIMATE_CONSTANT, 0.9, &x, &e), -ERR_INVALID);
	ck_assert(strstr(e.text, "before the first period"));
	periods_free(p);
}

TEST(several_threads_are_reported)
{
	struct periods *p = read_text("busy,a,completed:a\n5,3,1\n5,1,3\n5,2,2\n");
	struct err e = { 0 };
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_GLS, 0.9, &x, &e), -ERR_INVALID);
	ck_assert(strstr(e.text, "period 1: the process has several threads"));
	periods_free(p);
}

TEST(services_in_a_fixed_ratio_are_named_and_others_stay_known)
{
	struct periods *p = read_text("busy,a,b,c,d\n"
				      "14,1,2,3,0\n23,2,4,1,0\n13,1,2,2,0\n34,3,6,4,0\n20,2,4,0,0\n"
				      "12,1,2,2,0\n");
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_OLS, 0.9, &x, NULL), 0);
	ck_assert_int_eq(x.service[0].state, ESTIMATE_INSEPARABLE);
	ck_assert_int_eq(x.service[1].state, ESTIMATE_INSEPARABLE);
	ck_assert_uint_eq(x.service[0].group, x.service[1].group);
	ck_assert(isnan(x.service[0].demand) && isnan(x.service[1].demand));
	ck_assert_int_eq(x.service[2].state, ESTIMATE_KNOWN);
	ck_assert(x.service[2].low <= 1.1 && x.service[2].high >= 1.1);
	ck_assert_int_eq(x.service[3].state, ESTIMATE_NEVER_CALLED);
	ck_assert(isnan(x.service[3].demand));
	periods_free(p);
}

TEST(fewer_periods_than_services_are_refused)
{
	struct periods *p = read_text("busy,a,b,c\n14,1,2,3\n23,2,4,1\n");
	struct err e = { 0 };
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_OLS, 0.9, &x, &e), -ERR_INVALID);
	ck_assert(strstr(e.text, "2 periods are too few for 3 services"));
	periods_free(p);
}

TEST(as_many_periods_as_services_give_no_interval)
{
	struct periods *p = read_text("busy,a,b\n8,1,1\n11,2,1\n");
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_OLS, 0.9, &x, NULL), 0);
	check_demands(&x, 3, 5, 1e-9);
	ck_assert(isnan(x.service[0].low));
	periods_free(p);
}

TEST(a_demand_that_would_be_negative_is_held_at_0)
{
	struct periods *p = read_text("busy,a,b\n10,2,1\n9,2,2\n14,3,2\n13,3,3\n21,4,1\n");
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_OLS, 0.9, &x, NULL), 0);
	ck_assert(x.service[1].demand < 0);
	ck_assert_int_eq(estimate(p, ESTIMATE_NNLS, 0.9, &x, NULL), 0);
	ck_assert(x.service[1].is_at_bound);
	ck_assert_double_eq_tol(x.service[1].demand, 0, 1e-12);
	ck_assert(x.service[0].demand > 0 && x.service[0].low > 0);
	periods_free(p);
}

TEST(a_missing_column_is_named)
{
	struct periods *p = read_text("busy,a\n1,1\n2,2\n3,3\n");
	struct periods *q = read_text("busy,a,completed:a\n1,1,1\n2,2,2\n3,3,3\n");
	struct err e = { 0 };
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_HALF, 0.9, &x, &e), -ERR_UNSUPPORTED);
	ck_assert(strstr(e.text, "completed:NAME"));
	ck_assert_int_eq(estimate(q, ESTIMATE_ELAPSED, 0.9, &x, &e), -ERR_UNSUPPORTED);
	ck_assert(strstr(e.text, "elapsed"));
	periods_free(p);
	periods_free(q);
}

TEST(no_period_is_an_error_and_no_call_an_unknown_demand)
{
	struct periods *p = read_text("busy,a\n"), *q = read_text("busy,a\n1,0\n2,0\n");
	struct err e = { 0 };
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_OLS, 0.9, &x, &e), -ERR_INVALID);
	ck_assert_int_eq(estimate(q, ESTIMATE_OLS, 0.9, &x, NULL), 0);
	ck_assert_int_eq(x.service[0].state, ESTIMATE_NEVER_CALLED);
	periods_free(p);
	periods_free(q);
}

TEST(times_that_vary_are_not_constant)
{
	struct periods *p = read_text("busy,a,completed:a\n5,1,1\n7,1,1\n4,1,1\n");
	struct err e = { 0 };
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_CONSTANT, 0.9, &x, &e), -ERR_INVALID);
	ck_assert(strstr(e.text, "do not take constant times"));
	periods_free(p);
}

/* b never completed: no sum of completions bounds it. */
TEST(a_service_without_an_upper_bound_has_none)
{
	struct periods *p = read_text("busy,a,b,completed:a,completed:b\n5,1,0,1,0\n5,1,0,1,0\n"
				      "6,1,1,1,0\n5,1,0,1,0\n");
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_CONSTANT, 0.9, &x, NULL), 0);
	ck_assert_double_eq_tol(x.service[1].low, 1, 1e-6);
	ck_assert(isnan(x.service[1].high) && isnan(x.service[1].demand));
	periods_free(p);
}

TEST(what_no_regression_has_found_is_unknown)
{
	struct periods *p = read_text(ends), *q = read_text("busy,a\n1,0\n2,0\n");
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_CONSTANT, 0.9, &x, NULL), 0);
	ck_assert(isnan(x.deviation) && isnan(x.explained));
	ck_assert_int_eq(estimate(q, ESTIMATE_OLS, 0.9, &x, NULL), 0);
	ck_assert(isnan(x.deviation) && isnan(x.explained));
	periods_free(p);
	periods_free(q);
}

/* Their squares are 0. */
TEST(tiny_counts_are_counts)
{
	struct periods *p = read_text("busy,a,b\n2e-200,1e-200,0\n3e-200,0,1e-200\n"
				      "5e-200,1e-200,1e-200\n");
	struct estimate x;

	ck_assert_int_eq(estimate(p, ESTIMATE_OLS, 0.9, &x, NULL), 0);
	check_demands(&x, 2, 3, 1e-9);
	periods_free(p);
}

TEST(too_many_periods_for_sure_bounds_are_reported)
{
	struct periods *p = NULL;
	struct err e = { 0 };
	struct estimate x;
	size_t at;

	ck_assert_int_eq(periods_new(1, true, false, &p), 0);
	for (unsigned i = 0; i < 50001; i++) {
		ck_assert_int_eq(periods_add(p, &at), 0);
		p->begun[at] = p->completed[at] = p->response[at] = 1;
	}
	ck_assert_int_eq(estimate(p, ESTIMATE_CONSTANT, 0.9, &x, &e), -ERR_LIMIT);
	ck_assert_msg(strstr(e.text, "at most 50000 periods"), "%s", e.text);
	periods_free(p);
}

SUITE("estimate")
