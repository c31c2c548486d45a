/* SPDX-License-Identifier: Apache-2.0 */
/* Moments as people write them. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tools/term/moment.h"

#include <stdlib.h>
#include <time.h>

#define NOW (INT64_C(1700000000) * NSEC_PER_SEC) /* 2023-11-14T22:13:20Z, 23:13:20 in Berlin */
#define AT(seconds) ((INT64_C(1700000000) + (seconds)) * NSEC_PER_SEC)

static void set_up(void)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
}

static nsec_t is(const char *text)
{
	struct err e = { 0 };
	nsec_t out = 0;

	ck_assert_msg(!moment_parse(text, NOW, &out, &e), "%s: %s", text, e.text);
	return out;
}

TEST(all_kinds_are_understood)
{
	ck_assert_int_eq(is("now"), NOW);
	ck_assert_int_eq(is("-2h"), AT(-7200));
	ck_assert_int_eq(is("-90m"), AT(-5400));
	ck_assert_int_eq(is("@1699999999"), AT(-1));
	ck_assert_int_eq(is("23:13"), AT(-20));
	ck_assert_int_eq(is("23:13:19"), AT(-1));
	ck_assert_int_eq(is("23:14"), AT(40 - 86400)); /* yesterday */
	ck_assert_int_eq(is("2023-11-14T22:13:20Z"), NOW);
	ck_assert_int_eq(is("2023-11-14T23:13:20"), NOW);
	ck_assert_int_eq(is("2023-11-14 23:13:20"), NOW);
	ck_assert_int_eq(is("2023-11-15T00:13:20+02:00"), NOW);
	ck_assert_int_eq(is("2023-11-14T20:13-02:00"), AT(-20));
	ck_assert_int_eq(is("2023-11-14"), AT(-23 * 3600 - 13 * 60 - 20));
	ck_assert_int_eq(is("2023-07-01T12:00"), INT64_C(1688205600) * NSEC_PER_SEC); /* summer */
}

TEST(an_invalid_time_is_refused)
{
	static const struct {
		const char *text;
		int rc;
	} bad[] = {
		{ "", -ERR_PARSE },
		{ "noon", -ERR_PARSE },
		{ "-", -ERR_PARSE },
		{ "-2parsecs", -ERR_PARSE },
		{ "1:5", -ERR_PARSE },
		{ "13:05x", -ERR_PARSE },
		{ "25:00", -ERR_INVALID },
		{ "12:60", -ERR_INVALID },
		{ "2023-02-29", -ERR_INVALID },
		{ "2023-13-01", -ERR_INVALID },
		{ "2023-11-14T22:13:20+99:00", -ERR_PARSE },
		{ "2024-01-01", -ERR_INVALID }, /* still to come */
		{ "@", -ERR_PARSE },
		{ "@99999999999999999", -ERR_INVALID },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = { 0 };
		nsec_t out = 7;

		ck_assert_msg(moment_parse(bad[i].text, NOW, &out, &e) == bad[i].rc, "'%s': %s",
			      bad[i].text, e.text);
		ck_assert_int_eq(out, 7);
	}
}

SUITE_WITH("moment", set_up, NULL)
