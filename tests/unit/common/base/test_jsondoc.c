/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/json.h"
#include "common/base/jsondoc.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

static struct jsondoc *parse(const char *text)
{
	struct jsondoc *d = NULL;
	struct err e = { 0 };

	ck_assert_msg(jsondoc_parse(text, strlen(text), &d, &e) == 0, "%u:%u: %s", e.line, e.col,
		      e.text);
	return d;
}

START_TEST(values_of_all_kinds_are_read)
{
	struct jsondoc *d =
		parse(" {\"n\": -1.5e3 , \"t\":\"a\\n\\\"\\u00e9\\ud83d\\ude00/\\/\",\"yes\":true,"
		      "\"no\" : false,\"nothing\":null,\"list\":[1,[2,3],{}], \"n\": 7,"
		      "\"seed\":18446744073709551615}\n");
	const struct json_value *r = jsondoc_root(d), *list = json_get(r, "list"), *v;
	uint64_t seed = 0;

	ck_assert_int_eq(json_kind_of(r), JSON_OBJECT);
	ck_assert_uint_eq(json_count(r), 8);
	ck_assert(json_number(json_get(r, "n"), 0) == -1500);
	ck_assert_str_eq(json_text(json_get(r, "t"), ""), "a\n\"\xc3\xa9\xf0\x9f\x98\x80//");
	ck_assert(json_truth(json_get(r, "yes"), false) && !json_truth(json_get(r, "no"), true));
	ck_assert_int_eq(json_kind_of(json_get(r, "nothing")), JSON_NULL);
	ck_assert_uint_eq(json_count(list), 3);
	v = json_next(json_first(list));
	ck_assert(json_kind_of(v) == JSON_ARRAY && json_number(json_next(json_first(v)), 0) == 3);
	ck_assert_str_eq(json_name(json_first(r)), "n");
	ck_assert_ptr_null(json_name(json_first(list)));
	ck_assert_int_eq(json_to_u64(json_get(r, "seed"), &seed), 0);
	ck_assert_uint_eq(seed, UINT64_MAX);
	ck_assert_int_eq(json_to_u64(json_get(r, "n"), &seed), -ERR_INVALID);
	jsondoc_free(d);
}
END_TEST

START_TEST(what_is_not_there_or_of_another_kind_is_what_its_asker_says)
{
	struct jsondoc *d = parse("[1]");
	const struct json_value *r = jsondoc_root(d), *none = json_get(r, "x");

	ck_assert_ptr_null(none);
	ck_assert_ptr_null(json_get(none, "y"));
	ck_assert_ptr_null(json_first(json_first(r)));
	ck_assert_ptr_null(json_next(none));
	ck_assert_uint_eq(json_count(none), 0);
	ck_assert_uint_eq(json_count(json_first(r)), 0);
	ck_assert(isnan(json_number(none, NAN)) && json_number(r, 4) == 4);
	ck_assert_str_eq(json_text(r, "other"), "other");
	ck_assert(json_truth(none, true));
	jsondoc_free(d);
}
END_TEST

START_TEST(what_is_no_json_is_refused_with_its_place)
{
	static const struct {
		const char *text;
		unsigned line, col;
	} bad[] = {
		{ "", 1, 1 },
		{ "{", 1, 2 },
		{ "[1,]", 1, 4 },
		{ "[1 2]", 1, 4 },
		{ "{\"a\" 1}", 1, 6 },
		{ "{a:1}", 1, 2 },
		{ "{1}", 1, 2 },
		{ "{null, \"b\":1}", 1, 2 },
		{ "01", 1, 2 },
		{ "1.", 1, 3 },
		{ "-", 1, 2 },
		{ "1e", 1, 3 },
		{ "+1", 1, 1 },
		{ "nul", 1, 1 },
		{ "truth", 1, 1 },
		{ "[\n\n 1,\n x]", 4, 2 },
		{ "\"\\x\"", 1, 3 },
		{ "\"\\u12g4\"", 1, 4 },
		{ "\"\\ud800\"", 1, 8 },
		{ "\"\\udc00\"", 1, 8 },
		{ "\"\\u0000\"", 1, 8 },
		{ "\"a", 1, 3 },
		{ "\"a\nb\"", 1, 3 },
		{ "1e999", 1, 6 },
		{ "[1] 2", 1, 5 },
		{ "\"\\", 1, 3 },
		{ "\xff", 0, 0 },
		{ "\"\\ud800\\u0041\"", 1, 14 },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct jsondoc *d = NULL;
		struct err e = { 0 };

		ck_assert_msg(jsondoc_parse(bad[i].text, strlen(bad[i].text), &d, &e) == -ERR_PARSE,
			      "row %zu: %s", i, bad[i].text);
		ck_assert_ptr_null(d);
		ck_assert_msg(e.text[0] && e.line == bad[i].line && e.col == bad[i].col,
			      "row %zu: %s: %u:%u: %s", i, bad[i].text, e.line, e.col, e.text);
	}
}
END_TEST

START_TEST(what_is_too_deep_is_refused)
{
	char text[2 * JSON_DEPTH_MAX + 3];
	struct jsondoc *d = NULL;

	memset(text, '[', JSON_DEPTH_MAX);
	memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	ck_assert_int_eq(jsondoc_parse(text, 2 * JSON_DEPTH_MAX, &d, NULL), 0);
	jsondoc_free(d);
	d = NULL;
	memset(text, '[', JSON_DEPTH_MAX + 1);
	memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	ck_assert_int_eq(jsondoc_parse(text, 2 * JSON_DEPTH_MAX + 2, &d, NULL), -ERR_LIMIT);
}
END_TEST

START_TEST(what_we_write_is_what_we_read)
{
	struct buf b = BUF_INIT(4096);
	struct jsondoc *d;
	struct json j;

	json_init(&j, &b);
	json_object(&j);
	json_key(&j, "a\n\"\x01");
	json_double(&j, 0.1);
	json_object_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	d = parse((const char *)b.p);
	ck_assert(json_number(json_get(jsondoc_root(d), "a\n\"\x01"), 0) == 0.1);
	jsondoc_free(d);
	buf_done(&b);
}
END_TEST

START_TEST(without_memory_nothing_is_read)
{
	static const char text[] = "[1,2,3,4,5,6,7,8,9,[10,11],{\"a\":1}]";

	ALLOC_SWEEP (k) {
		struct jsondoc *d = NULL;
		int rc = jsondoc_parse(text, sizeof(text) - 1, &d, NULL);

		alloc_sweep_pause();
		ck_assert(rc == 0 || rc == -ERR_NOMEM);
		jsondoc_free(d);
	}
}
END_TEST

SUITE("jsondoc", values_of_all_kinds_are_read,
      what_is_not_there_or_of_another_kind_is_what_its_asker_says,
      what_is_no_json_is_refused_with_its_place, what_is_too_deep_is_refused,
      what_we_write_is_what_we_read, without_memory_nothing_is_read)
