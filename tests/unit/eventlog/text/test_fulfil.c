/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions on events in typical forms. For invalid conditions, see
 * tests/unit/eventlog/test_evwhere.c.
 */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "eventlog/text/evout.h"
#include "tests/suite.h"

#include <string.h>

static const struct evfield field[] = {
	{ "n", EV_INT32 }, { "big", EV_INT64 }, { "f", EV_DOUBLE }, { "who", EV_STRING }
};
static const struct evconst constant[] = { { "HOST", { .kind = EV_STRING, .n = 3, .s = "a b" } } };
static const struct evtype type = {
	.name = "io.read", .nfield = 4, .nconst = 1, .field = field, .constant = constant
};
static const struct evvalue value[] = { { .kind = EV_INT32, .i32 = 7 },
					{ .kind = EV_INT64, .i64 = INT64_C(1) << 40 },
					{ .kind = EV_DOUBLE, .f64 = 0.5 },
					{ .kind = EV_STRING, .n = 5, .s = "x\"y\\z" } };
static const struct event event = { .type = &type, .value = value };

static bool says(const char *text)
{
	struct evwhere w;
	struct err e = { 0 };

	ck_assert_msg(!evwhere_read(text, &w, &e), "%s: %s", text, e.text);
	return evattr_fulfil(&event, &w);
}

TEST(conditions_hold_or_not)
{
	static const char *const yes[] = {
		"n == 7",
		"n>6",
		"  n >= 7  ",
		"n<8 and n != 6",
		"big > 1e12",
		"f <= 0.5",
		"HOST == \"a b\"",
		"who != x",
		"who == \"x\\\"y\\\\z\"",
		"event == io.*",
		"event == io.read",
		"n == 7.0",
		"event != disk.*",
		"who == x*",
		"n == 7\tand f < 1",
		"event == * and n > 0",
	};
	static const char *const no[] = {
		"n == 8",	    "n > 7",	 "big < 1e12", "none == 1",
		"none != 1",	    "HOST == a", "who == x",   "event == read",
		"n == 7 and f > 1", "who > 1",	 "n == seven", "event == \"io.*\"",
		"n != seven",
	};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		ck_assert_msg(says(yes[i]), "%s", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		ck_assert_msg(!says(no[i]), "%s", no[i]);
}

TEST(attribute_of_an_event_hides_that_of_its_stream)
{
	static const struct evconst of_stream[] = {
		{ "n", { .kind = EV_INT32, .i32 = 1 } },
		{ "PROG", { .kind = EV_STRING, .n = 1, .s = "p" } },
		{ "HOST", { .kind = EV_STRING, .n = 1, .s = "h" } }
	};
	static const struct evtype stream = { .name = "",
					      .nconst = ARRAY_LEN(of_stream),
					      .constant = of_stream };
	const struct event ev = { .type = &type, .stream_type = &stream, .value = value };
	struct evattr_iter i = { .ev = &ev };
	struct evattr a;
	struct buf names = BUF_INIT(100);

	while (evattr_next(&i, &a))
		buf_printf(&names, "%s ", a.name);
	ck_assert_str_eq(buf_str(&names), "PROG HOST n big f who ");
	buf_done(&names);
	ck_assert_int_eq(evattr_find(&ev, "n")->i32, 7);
	ck_assert_str_eq(evattr_find(&ev, "HOST")->s, "a b");
}

SUITE("conditions on events")
