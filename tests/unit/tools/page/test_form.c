/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tools/page/form.h"
#include "tools/page/viewer.h"

#include <string.h>

static struct form f;

static int read_form(const char *text)
{
	struct err e = { 0 };
	int rc;

	f.n = 0;
	rc = form_read(&f, text, strlen(text), &e);
	ck_assert_msg(!rc || e.text[0], "%s", text);
	return rc;
}

TEST(fields_are_found_by_name)
{
	ck_assert_int_eq(read_form("{\"a\":\"x\\n\",\"n\":7,\"t\":true,\"f\":false}"), 0);
	ck_assert_str_eq(form_text(&f, "a"), "x\n");
	ck_assert_int_eq(form_number(&f, "n", 0, 10, 1), 7);
	ck_assert_int_eq(form_number(&f, "n", 0, 5, 1), 5);
	ck_assert_int_eq(form_number(&f, "t", 0, 1, 0), 1);
	ck_assert_int_eq(form_number(&f, "f", 0, 1, 1), 0);
	ck_assert_int_eq(form_number(&f, "a", 0, 1, 9), 9);
	ck_assert_int_eq(form_number(&f, "none", 0, 1, 9), 9);
	ck_assert_ptr_null(form_text(&f, "n"));
	form_done(&f);
}

TEST(other_json_is_refused)
{
	static const char *const bad[] = {
		"",
		"1",
		"[]",
		"{",
		"{}1",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":[]}",
		"{\"a\":{}}",
		"{\"a\":null}",
		"{\"a\":1,\"a\":2}",
		"{\"a\":1.5}",
		"{\"a\":\"\\u0000\"}",
		"{\"\\u0000\":1}",
		"{\"0123456789abcdef\":1}",
		"{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,"
		"\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1,\"q\":1}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		ck_assert_msg(read_form(bad[i]) < 0, "%s", bad[i]);
		form_done(&f);
	}
}

TEST(each_byte_may_be_wrong)
{
	static const char good[] = "{\"rows\":12,\"filter\":\"a\\u00e9\",\"reverse\":true}";
	char copy[sizeof(good)];
	size_t wrong = 0;
	struct err e;
	int rc;

	for (size_t i = 0; i < sizeof(good) - 1; i++)
		for (int c = 0; c < 256; c++) {
			memcpy(copy, good, sizeof(good));
			copy[i] = (char)c;
			e = (struct err){ 0 };
			rc = form_read(&f, copy, sizeof(good) - 1, &e);
			ck_assert_msg(!rc || e.text[0], "%s", copy);
			ck_assert(!rc || copy[i] != good[i]);
			wrong += !!rc;
			form_done(&f);
		}
	ck_assert_uint_gt(wrong, 256 * 4); /* braces, colons and the like */
}

TEST(a_viewer_takes_what_is_in_range)
{
	struct keys_entry key = { .text = "k" };
	struct viewer *v = viewer_new(1, &key);

	ck_assert_int_eq(read_form("{\"rows\":100000,\"first\":-4,\"count\":0,\"sort\":\"mpi\","
				   "\"open\":\"n_1,,n_2,n_3,n_4,n_5,n_6,n_7,n_8,n_9\"}"),
			 0);
	viewer_look(v, &f);
	form_done(&f);
	ck_assert_uint_eq(v->rows, STRIP_ROWS_MAX);
	ck_assert_uint_eq(v->first, 0);
	ck_assert_uint_eq(v->count, 1);
	ck_assert_int_eq(v->order.sort, TOP_BY_MPI);
	ck_assert_uint_eq(v->nopen, VIEWER_OPEN_MAX);
	ck_assert_str_eq(v->open[1], "n_2");
	ck_assert_int_eq(read_form("{\"sort\":\"nothing\",\"count\":1000}"), 0);
	viewer_look(v, &f);
	form_done(&f);
	ck_assert_int_eq(v->order.sort, TOP_BY_MPI);
	ck_assert_uint_eq(v->count, PAGE_TABLE_ROWS_MAX);
	for (unsigned i = 0; i < VIEWER_CHARTS_MAX; i++)
		ck_assert(viewer_add_chart(v, 10 + i));
	ck_assert(!viewer_add_chart(v, 99));
	ck_assert(viewer_drop_chart(v, 12) && !viewer_drop_chart(v, 12) &&
		  !viewer_drop_chart(v, 0));
	ck_assert(viewer_add_chart(v, 99));
	viewer_free(v);
}

SUITE("page_form")
