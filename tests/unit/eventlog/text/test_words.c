/* SPDX-License-Identifier: Apache-2.0 */
/* Times, numbers and strings as text and back: each valid form, and invalid ones. */
#include "common/base/array.h"
#include "eventlog/text/evwords.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

/* --- times */

#define T INT64_C(1331642136000000000) /* 2012-03-13T12:35:36Z */

static const struct {
	const char *text;
	nsec_t at; /* -7: it is none */
} iso[] = {
	{ "2012-03-13T12:35:36Z", T },
	{ "2012-03-13T12:35:36", T },
	{ "2012-03-13T12:35:36.5Z", T + 500000000 },
	{ "2012-03-13T12:35:36.25", T + 250000000 },
	{ "2012-03-13T12:35:36.123456789Z", T + 123456789 },
	{ "2012-03-13T12:35:36.1234567899Z", T + 123456789 },
	{ "20120313T123536Z", T },
	{ "20120313T123536.5", T + 500000000 },
	{ "2012-03-13T12:35:60Z", T + 24 * NSEC_PER_SEC },
	{ "1970-01-01T00:00:00Z", 0 },
	{ "1969-12-31T23:59:59.999999999Z", -1 },
	{ "1331642136", T },
	{ "1331642136.000000001", T + 1 },
	{ "-1.5", -1500000000 },
	{ "0", 0 },
	{ "9223372036.854775807", INT64_MAX },
	{ "9223372036.854775808", -7 },
	{ "9223372037", -7 },
	{ "99999999999999999999", -7 },
	{ "", -7 },
	{ "-", -7 },
	{ ".5", -7 },
	{ "1.", -7 },
	{ "1.5x", -7 },
	{ "1x", -7 },
	{ "now", -7 },
	{ "2012-03-13", -7 },
	{ "2012-03-13 12:35:36", -7 },
	{ "2012-03-13T12:35:36.Z", -7 },
	{ "2012-03-13T12:35:36.5ZZ", -7 },
	{ "2012-03-13T12:35:36Zx", -7 },
	{ "2012-03-13T12:35:3", -7 },
	{ "2012-00-13T12:35:36Z", -7 },
	{ "2012-13-13T12:35:36Z", -7 },
	{ "2012-03-00T12:35:36Z", -7 },
	{ "2012-03-32T12:35:36Z", -7 },
	{ "2012-02-30T12:35:36Z", -7 },
	{ "2012-03-13T24:35:36Z", -7 },
	{ "2012-03-13T12:60:36Z", -7 },
	{ "2012-03-13T12:35:61Z", -7 },
	{ "2263-01-01T00:00:00Z", -7 },
	{ "1600-01-01T00:00:00Z", -7 },
};

TEST(each_form_of_a_time_is_read)
{
	for (size_t i = 0; i < ARRAY_LEN(iso); i++) {
		nsec_t t = -7;
		bool is = evwords_iso(iso[i].text, strlen(iso[i].text), &t);

		ck_assert_msg(is == (iso[i].at != -7), "'%s'", iso[i].text);
		ck_assert_msg(!is || t == iso[i].at, "'%s': %lld", iso[i].text, (long long)t);
	}
}

static const struct {
	const char *text;
	bool is_padded;
	nsec_t at;
	bool is_short;
} dates[] = {
	{ "20120313123536", false, T, false },
	{ "20120313123536", true, T, false },
	{ "20120313123536.5", false, T + 500000000, true },
	{ "20120313123536.5", true, T + 5000, true },
	{ "20120313123536.12345", false, T + 123450000, true },
	{ "20120313123536.12345", true, T + 12345000, true },
	{ "20120313123536.123456", false, T + 123456000, false },
	{ "20120313123536.123456", true, T + 123456000, false },
	{ "20120313123536.123456789", true, T + 123456789, false },
	{ "20120313123536.", false, -7, false },
	{ "20120313123536.5x", false, -7, false },
	{ "2012031312353", false, -7, false },
	{ "2012031312353x", false, -7, false },
	{ "20120313123536Z", false, -7, false },
	{ "20120313253536", false, -7, false },
	{ "", false, -7, false },
};

TEST(a_short_fraction_of_a_date_is_read_in_both_ways)
{
	for (size_t i = 0; i < ARRAY_LEN(dates); i++) {
		bool is_short = true;
		nsec_t t = -7;
		bool is = evwords_date(dates[i].text, strlen(dates[i].text), dates[i].is_padded, &t,
				       &is_short);

		ck_assert_msg(is == (dates[i].at != -7), "'%s'", dates[i].text);
		ck_assert_msg(!is || (t == dates[i].at && is_short == dates[i].is_short),
			      "'%s': %lld", dates[i].text, (long long)t);
	}
}

static void is_written(nsec_t t, const char *want_ulm, const char *want_iso)
{
	char text[EVWORDS_TIME_BYTES];
	size_t n = evwords_time_ulm(text, t);

	ck_assert_msg(n == strlen(want_ulm) && !memcmp(text, want_ulm, n), "%.*s", (int)n, text);
	n = evwords_time_iso(text, t);
	ck_assert_msg(n == strlen(want_iso) && !memcmp(text, want_iso, n), "%.*s", (int)n, text);
}

TEST(times_have_six_digits_or_nine)
{
	is_written(T, "20120313123536.000000", "2012-03-13T12:35:36.000000Z");
	is_written(T + 1000, "20120313123536.000001", "2012-03-13T12:35:36.000001Z");
	is_written(T + 1, "20120313123536.000000001", "2012-03-13T12:35:36.000000001Z");
	is_written(-1000, "19691231235959.999999", "1969-12-31T23:59:59.999999Z");
	is_written(-NSEC_PER_SEC, "19691231235959.000000", "1969-12-31T23:59:59.000000Z");
}

/* --- numbers */

static const struct {
	const char *text;
	enum evkind kind;
	bool is_one;
} values[] = {
	{ "2147483647", EV_INT32, true },
	{ "2147483648", EV_INT32, false },
	{ "-2147483648", EV_INT32, true },
	{ "-2147483649", EV_INT32, false },
	{ "9223372036854775807", EV_INT64, true },
	{ "9223372036854775808", EV_INT64, false },
	{ "5", EV_FLOAT, true },
	{ "5e3", EV_DOUBLE, true },
	{ "nan", EV_FLOAT, true },
	{ "inf", EV_DOUBLE, true },
	{ "-inf", EV_DOUBLE, true },
	{ "-nan", EV_DOUBLE, false },
	{ "infinity", EV_DOUBLE, false },
	{ "1.5", EV_INT32, false },
	{ "", EV_INT32, false },
	{ "", EV_DOUBLE, false },
	{ "x", EV_DOUBLE, false },
	{ "", EV_STRING, true },
	{ "000000000000000000000000000000000000001", EV_INT32, true }, /* 39 digits */
	{ "0000000000000000000000000000000000000001", EV_INT32, false },
};

TEST(a_value_is_of_its_kind_or_none)
{
	struct evvalue v;

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		bool is = evwords_value(values[i].text, strlen(values[i].text), values[i].kind, &v);

		ck_assert_msg(is == values[i].is_one, "'%s'", values[i].text);
		ck_assert_int_eq(v.kind, values[i].kind);
	}
	ck_assert(evwords_value("5", 1, EV_FLOAT, &v) && v.f32 == 5);
	ck_assert(evwords_value("-5", 2, EV_DOUBLE, &v) && v.f64 == -5);
	ck_assert(evwords_value("-inf", 4, EV_FLOAT, &v) && isinf(v.f32) && v.f32 < 0);
	ck_assert(evwords_value("inf", 3, EV_DOUBLE, &v) && isinf(v.f64) && v.f64 > 0);
	ck_assert(evwords_value("nan", 3, EV_DOUBLE, &v) && isnan(v.f64));
	ck_assert(evwords_value("-7", 2, EV_INT64, &v) && v.i64 == -7);
	ck_assert(evwords_value("", EV_RECORD_MAX_BYTES, EV_STRING, &v));
	ck_assert(!evwords_value("", EV_RECORD_MAX_BYTES + 1, EV_STRING, &v));
}

/* Only what would be written so is a number. */
static const struct {
	const char *text;
	enum evkind kind;
} inferred[] = {
	{ "0", EV_INT32 },
	{ "-1", EV_INT32 },
	{ "2147483648", EV_INT64 },
	{ "-2147483649", EV_INT64 },
	{ "9223372036854775808", EV_STRING },
	{ "0.5", EV_DOUBLE },
	{ "1e+300", EV_DOUBLE },
	{ "nan", EV_DOUBLE },
	{ "inf", EV_DOUBLE },
	{ "-inf", EV_DOUBLE },
	{ "-0", EV_DOUBLE },
	{ "00", EV_STRING },
	{ "+1", EV_STRING },
	{ "1.50", EV_STRING },
	{ ".5", EV_STRING },
	{ "1e300", EV_STRING },
	{ "NaN", EV_STRING },
	{ "i", EV_STRING },
	{ "n", EV_STRING },
	{ "-", EV_STRING },
	{ "", EV_STRING },
	{ "0x1", EV_STRING },
};

TEST(text_is_a_number_when_it_would_be_written_so)
{
	for (size_t i = 0; i < ARRAY_LEN(inferred); i++) {
		const char *s = inferred[i].text;
		struct evvalue v;

		evwords_infer(s, strlen(s), &v);
		ck_assert_msg(v.kind == inferred[i].kind, "'%s': %d", s, v.kind);
		ck_assert(v.kind != EV_STRING || (v.s == s && v.n == strlen(s)));
	}
}

/* --- strings */

#define STRING(t)                                               \
	{                                                       \
		.kind = EV_STRING, .n = sizeof(t) - 1, .s = (t) \
	}

static const struct {
	struct evvalue value;
	const char *text;
} strings[] = {
	{ STRING("plain"), "plain" },
	{ STRING("12"), "\"12\"" },
	{ STRING("0.5"), "\"0.5\"" },
	{ STRING("nan"), "\"nan\"" },
	{ STRING("12x"), "12x" },
	{ STRING(""), "\"\"" },
	{ STRING("a b"), "\"a b\"" },
	{ STRING("a=b"), "\"a=b\"" },
	{ STRING("a\"b"), "\"a\\\"b\"" },
	{ STRING("a\\b"), "\"a\\\\b\"" },
	{ STRING("\n\t\r"), "\"\\n\\t\\r\"" },
	{ STRING("a\0b"), "\"a\\x00b\"" },
	{ STRING("\x1f\x7f"), "\"\\x1f\\x7f\"" },
	{ STRING("\xc3\xa9"), "\xc3\xa9" },
	{ STRING("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80" },
	{ STRING("\xe2\x82\xac"), "\xe2\x82\xac" },
	{ STRING("\xc2\x9b"), "\"\\xc2\\x9b\"" },
	{ STRING("\xc2\xa0"), "\xc2\xa0" },
	{ STRING("\xff"), "\"\\xff\"" },
	{ STRING("\xc3"), "\"\\xc3\"" },
	{ { .kind = EV_INT32, .i32 = INT32_MIN }, "-2147483648" },
	{ { .kind = EV_INT64, .i64 = INT64_MIN }, "-9223372036854775808" },
	{ { .kind = EV_FLOAT, .f32 = 0.1f }, "0.1" },
	{ { .kind = EV_DOUBLE, .f64 = 0.1 }, "0.1" },
};

TEST(values_are_quoted_where_they_would_mean_another)
{
	struct buf b = BUF_INIT(100);

	for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
		buf_clear(&b);
		evwords_put_value(&b, &strings[i].value);
		ck_assert_str_eq(buf_str(&b), strings[i].text);
	}
	buf_done(&b);
}

TEST(names_are_escaped_where_they_would_end)
{
	struct buf b = BUF_INIT(100);

	evwords_put_name(&b, "plain.NAME_7");
	evwords_put_name(&b, " =\"\\\x7f\t\xff\xc3\xa9");
	ck_assert_str_eq(buf_str(&b), "plain.NAME_7\\x20\\x3d\\x22\\x5c\\x7f\\x09\xff\xc3\xa9");
	buf_done(&b);
}

static const struct {
	const char *text, *plain;
} escapes[] = {
	{ "a\\nb\\tc\\rd\\\\e\\\"f", "a\nb\tc\rd\\e\"f" },
	{ "\\x41\\x7a", "Az" },
	{ "\\xff", "\xff" },
	{ "\\x4", "\\x4" },
	{ "\\x4g", "\\x4g" },
	{ "\\xg4", "\\xg4" },
	{ "\\xFF", "\\xFF" },
	{ "\\q", "\\q" },
	{ "\\", "\\" },
	{ "a\\", "a\\" },
	{ "", "" },
};

TEST(escapes_are_undone_and_other_backslashes_stay)
{
	char out[40];

	for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
		size_t n = evwords_unescape(out, escapes[i].text, strlen(escapes[i].text));

		ck_assert_msg(n == strlen(escapes[i].plain) && !memcmp(out, escapes[i].plain, n),
			      "%s", escapes[i].text);
	}
}

SUITE("words")
