/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "common/base/array.h"
#include "neko/cmd/neko_plot.h"

#include <string.h>

static int draw(const char *text, struct buf *out, struct err *e)
{
	struct json_object *results = NULL;
	int rc = results_parse(text, strlen(text), &results, e);

	if (!rc)
		rc = neko_plot_draw(results, out, e);
	results_free(results);
	return rc;
}

/* Whatever numbers stand there: places are inside of the picture, and none is nan or inf. */
TEST(numbers_of_anybody_stay_in_the_picture)
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

TEST(what_are_no_results_is_refused)
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

SUITE("neko_plot")
