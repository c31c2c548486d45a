/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions on events: what they say, and what is none. */
#include "common/base/array.h"
#include "eventlog/text/evwhere.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static const struct evfield field[] = { { "n", EV_INT32 }, { "big", EV_INT64 }, { "f", EV_DOUBLE }, { "who", EV_STRING } };
static const struct evconst constant[] = { { "HOST", { .kind = EV_STRING, .n = 3, .s = "a b" } } };
static const struct evtype type = { .name = "io.read", .nfield = 4, .nconst = 1, .field = field, .constant = constant };
static const struct evvalue value[] = { { .kind = EV_INT32, .i32 = 7 },
					{ .kind = EV_INT64, .i64 = INT64_C(1) << 40 },
					{ .kind = EV_DOUBLE, .f64 = 0.5 },
					{ .kind = EV_STRING, .n = 5, .s = "x\"y\\z" } };
static const struct event event = { .type = &type, .value = value };

static bool says(const char *text)
{
	struct evwhere *w;
	struct err e = { 0 };
	bool holds;

	ck_assert_msg(!evwhere_new(text, &w, &e), "%s: %s", text, e.text);
	holds = evwhere_holds(w, &event);
	evwhere_free(w);
	return holds;
}

START_TEST(conditions_hold_or_not)
{
	static const char *const yes[] = {
		"n == 7",	 "n>6",		"  n >= 7  ",	      "n<8 and n != 6",	     "big > 1e12",	     "f <= 0.5",
		"HOST == \"a b\"", "who != x",	"who == \"x\\\"y\\\\z\"", "event == io.*",	     "event == io.read",     "n == 7.0",
		"event != disk.*", "who == x*", "n == 7\tand f < 1",   "event == * and n > 0",
	};
	static const char *const no[] = {
		"n == 8",	 "n > 7",	 "big < 1e12", "none == 1",	   "none != 1",	      "HOST == a", "who == x",
		"event == read", "n == 7 and f > 1", "who > 1",    "n == seven", "event == \"io.*\"", "n != seven",
	};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		ck_assert_msg(says(yes[i]), "%s", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		ck_assert_msg(!says(no[i]), "%s", no[i]);
}
END_TEST

START_TEST(what_is_no_condition_is_refused)
{
	static const char *const bad[] = { "",	   " ",	      "n",	"n =",	  "n = 7",   "n ==",  "== 7",	  "n == 7 or n == 8",
					   "n == 7 and", "n == 7 andn == 8", "n == 7 n == 8", "n == \"7", "n < abc", "n < nan", "!= 3" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct evwhere *w = NULL;
		struct err e = { 0 };

		ck_assert_msg(evwhere_new(bad[i], &w, &e) == -ERR_INVALID, "%s", bad[i]);
		ck_assert_msg(e.text[0], "%s", bad[i]);
		ck_assert_ptr_null(w);
	}
}
END_TEST

START_TEST(a_condition_has_limits)
{
	char text[EVWHERE_TEXT_MAX_BYTES + 1] = "n == 7";
	struct evwhere *w;

	for (int i = 1; i < EVWHERE_MAX; i++)
		strncat(text, " and n == 7", sizeof(text) - strlen(text) - 1);
	ck_assert(says(text));
	strncat(text, " and n == 7", sizeof(text) - strlen(text) - 1);
	ck_assert_int_eq(evwhere_new(text, &w, NULL), -ERR_LIMIT);
	memset(text, ' ', EVWHERE_TEXT_MAX_BYTES);
	text[EVWHERE_TEXT_MAX_BYTES] = '\0';
	memcpy(text, "n == 7", 6);
	ck_assert_int_eq(evwhere_new(text, &w, NULL), -ERR_LIMIT);
	text[EVWHERE_TEXT_MAX_BYTES - 1] = '\0';
	ck_assert(says(text));
	ALLOC_SWEEP(k)
	{
		int rc = evwhere_new("n == 7", &w, NULL);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		if (!rc)
			evwhere_free(w);
	}
}
END_TEST

SUITE("evwhere", conditions_hold_or_not, what_is_no_condition_is_refused, a_condition_has_limits)
