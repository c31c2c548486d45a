/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "common/base/array.h"
#include "tools/results/results.h"

#include <math.h>
#include <string.h>

static struct json_object *parsed(const char *text)
{
	struct json_object *v = NULL;
	struct err e = { 0 };

	ck_assert_msg(results_parse(text, strlen(text), &v, &e) == 0, "%s: %s", text, e.text);
	return v;
}

TEST(values_of_another_kind_are_the_default)
{
	struct json_object *v = parsed("{\"n\":1.5,\"i\":7,\"s\":\"t\",\"b\":true,\"z\":null,"
				       "\"a\":[1,null,\"x\"],\"huge\":1e999}");

	ck_assert_double_eq(results_number(results_get(v, "n"), -1), 1.5);
	ck_assert_double_eq(results_number(results_get(v, "i"), -1), 7);
	ck_assert_double_eq(results_number(results_get(v, "s"), -1), -1);
	ck_assert_double_eq(results_number(results_get(v, "z"), -1), -1);
	ck_assert_double_eq(results_number(results_get(v, "none"), -1), -1);
	ck_assert_double_eq(results_number(results_get(v, "huge"), -1), -1);
	ck_assert_double_eq(results_member(v, "n"), 1.5);
	ck_assert(isnan(results_member(v, "s")));
	ck_assert(isnan(results_member(v, "none")));
	ck_assert_str_eq(results_text(results_get(v, "s"), ""), "t");
	ck_assert_str_eq(results_text(results_get(v, "n"), "no"), "no");
	ck_assert(results_truth(results_get(v, "b"), false));
	ck_assert(results_truth(results_get(v, "n"), true));
	ck_assert_uint_eq(results_count(results_get(v, "a")), 3);
	ck_assert_uint_eq(results_count(v), 0);
	ck_assert_uint_eq(results_count(NULL), 0);
	ck_assert_str_eq(results_text(results_item(results_get(v, "a"), 2), ""), "x");
	ck_assert_ptr_null(results_item(results_get(v, "a"), 3));
	ck_assert_ptr_null(results_item(v, 0));
	ck_assert_ptr_null(results_get(results_get(v, "a"), "n"));
	results_free(v);
}

TEST(a_text_that_is_no_json_is_refused_with_its_place)
{
	static const struct {
		const char *text;
		unsigned line, col;
	} row[] = {
		{ "", 1, 1 },	  { "{\"a\":", 1, 6 }, { "{\n\"a\": x}", 2, 6 }, { "{} {}", 1, 4 },
		{ "[1,]", 1, 4 }, { "{a:1}", 1, 2 },   { "\"\xff\"", 1, 2 },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct json_object *v = NULL;
		struct err e = { 0 };

		ck_assert_msg(results_parse(row[i].text, strlen(row[i].text), &v, &e) == -ERR_PARSE,
			      "row %zu", i);
		ck_assert_msg(!v && e.text[0] && e.line == row[i].line && e.col == row[i].col,
			      "row %zu: %u:%u: %s", i, e.line, e.col, e.text);
	}
}

TEST(a_zero_byte_and_a_deep_text_are_refused)
{
	struct json_object *v = NULL;
	char deep[200];
	struct err e = { 0 };

	ck_assert_int_eq(results_parse("{}\0{}", 5, &v, &e), -ERR_PARSE);
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	ck_assert_int_eq(results_parse(deep, sizeof(deep) - 1, &v, &e), -ERR_LIMIT);
	ck_assert_ptr_null(v);
}

SUITE("results")
