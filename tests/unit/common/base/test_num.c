/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

static bool i64_is(const char *s, int64_t want)
{
	int64_t v = 0;

	return !str_to_i64(s, INT64_MIN, INT64_MAX, &v) && v == want;
}

static bool u64_is(const char *s, uint64_t want)
{
	uint64_t v = 0;

	return !str_to_u64(s, 0, UINT64_MAX, &v) && v == want;
}

TEST(integers_reach_their_ends_and_not_beyond)
{
	ck_assert(i64_is("0", 0));
	ck_assert(i64_is("-0", 0));
	ck_assert(i64_is("007", 7));
	ck_assert(i64_is("9223372036854775807", INT64_MAX));
	ck_assert(i64_is("-9223372036854775808", INT64_MIN));
	ck_assert(u64_is("18446744073709551615", UINT64_MAX));
	for (const char **s =
		     (const char *[]){ "", "-", "+1", " 1", "1 ", "1x", "0x1", "--1", "1.0",
				       "9223372036854775808", "-9223372036854775809",
				       "99999999999999999999999", NULL };
	     *s; s++) {
		int64_t v = 42;

		ck_assert_msg(str_to_i64(*s, INT64_MIN, INT64_MAX, &v) == -ERR_INVALID,
			      "'%s' passed", *s);
		ck_assert_int_eq(v, 42);
	}
	for (const char **s = (const char *[]){ "", "-1", "+1", "18446744073709551616", NULL }; *s;
	     s++) {
		uint64_t v = 42;

		ck_assert_msg(str_to_u64(*s, 0, UINT64_MAX, &v) == -ERR_INVALID, "'%s' passed", *s);
		ck_assert_uint_eq(v, 42);
	}
	ck_assert_int_eq(str_to_i64(NULL, 0, 1, &(int64_t){ 0 }), -ERR_INVALID);
}

TEST(a_range_includes_its_ends)
{
	int64_t v;
	uint64_t u;

	for (int64_t i = -3; i <= 3; i++) {
		char s[8];

		snprintf(s, sizeof(s), "%d", (int)i);
		ck_assert_int_eq(str_to_i64(s, -2, 2, &v) == 0, i >= -2 && i <= 2);
	}
	ck_assert_int_eq(str_to_u64("10", 10, 20, &u), 0);
	ck_assert_int_eq(str_to_u64("20", 10, 20, &u), 0);
	ck_assert_int_lt(str_to_u64("9", 10, 20, &u), 0);
	ck_assert_int_lt(str_to_u64("21", 10, 20, &u), 0);
}

TEST(doubles_are_decimal_and_finite)
{
	double v;

	ck_assert_int_eq(str_to_double("-1.5e3", -1e9, 1e9, &v), 0);
	ck_assert_double_eq(v, -1500);
	ck_assert_int_eq(str_to_double(".5", 0, 1, &v), 0);
	ck_assert_double_eq(v, .5);
	ck_assert_int_eq(str_to_double("5.", 0, 9, &v), 0);
	for (const char **s = (const char *[]){ "", ".", "-", "e5", "1e", "1e+", "inf", "nan",
						"0x10", "1,5", " 1", "1 ", "1e999", NULL };
	     *s; s++)
		ck_assert_msg(str_to_double(*s, -INFINITY, INFINITY, &v) == -ERR_INVALID,
			      "'%s' passed", *s);
	ck_assert_int_lt(str_to_double("1.01", 0, 1, &v), 0);
}

/* Texts as the C library writes them, and back; also beyond the required range. */
TEST(shortest_texts_of_numbers_read_back)
{
	char text[STR_DOUBLE_BYTES], want[STR_DOUBLE_BYTES];

	for (int64_t k = -100000500; k < 100000500; k += 997) {
		double v = (double)k / 1000, wide = v + 1e-7;
		float f = (float)v;

		ck_assert_double_eq(strtod(str_from_double(text, v), NULL), v);
		snprintf(want, sizeof(want), "%.15g", v);
		ck_assert_str_eq(text, want);
		ck_assert_double_eq(strtod(str_from_double(text, wide), NULL), wide);
		ck_assert(strtof(str_from_float(text, f), NULL) == f);
		for (int digits = 6; digits <= 9; digits++) {
			snprintf(want, sizeof(want), "%.*g", digits, (double)f);
			if (strtof(want, NULL) == f)
				break;
		}
		ck_assert_str_eq(text, want);
	}
	ck_assert_str_eq(str_from_double(text, -0.0), "-0");
	ck_assert_str_eq(str_from_double(text, 0.0), "0");
	ck_assert_str_eq(str_from_double(text, 0.0001), "0.0001");
	ck_assert_str_eq(str_from_float(text, 0.1f), "0.1");
	ck_assert_str_eq(str_from_double(text, -INFINITY), "-inf");
	ck_assert_str_eq(str_from_float(text, NAN), "nan");
}

TEST(hexadecimal_numbers_have_one_to_sixteen_digits)
{
	uint64_t v;

	ck_assert_int_eq(str_to_hex64("fFfFffffFFFFffff", &v), 0);
	ck_assert_uint_eq(v, UINT64_MAX);
	ck_assert_int_eq(str_to_hex64("0", &v), 0);
	ck_assert_int_lt(str_to_hex64("", &v), 0);
	ck_assert_int_lt(str_to_hex64("0ffffffffffffffff", &v), 0);
	ck_assert_int_lt(str_to_hex64("0x1", &v), 0);
	ck_assert_int_lt(str_to_hex64("g", &v), 0);
}

/* At and beyond the bounds of the short form, and with special forms. */
TEST(numbers_are_written_as_the_shortest_text)
{
	static const struct {
		double v;
		const char *text;
	} known[] = {
		{ 99999.999, "99999.999" },
		{ 100000, "100000" },
		{ -100000.5, "-100000.5" },
		{ 0.001, "0.001" },
		{ -0.001, "-0.001" },
		{ 0.0005, "0.0005" },
		{ 1.1, "1.1" },
		{ 1.01, "1.01" },
		{ -10.25, "-10.25" },
		{ 0.30000000000000004, "0.30000000000000004" },
		{ 1e15, "1e+15" },
		{ 123456789012345, "123456789012345" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 4.9e-324, "4.94065645841247e-324" },
		{ INFINITY, "inf" },
		{ NAN, "nan" },
	};
	static const struct {
		float v;
		const char *text;
	} floats[] = {
		{ 999.999f, "999.999" },
		{ 1000.5f, "1000.5" },
		{ -0.5f, "-0.5" },
		{ 16777216, "16777216" },
		{ 0.001f, "0.001" },
		{ 3.4028235e38f, "3.4028235e+38" },
		{ (float)-INFINITY, "-inf" },
		{ 0.0f, "0" },
		{ -0.0f, "-0" },
	};
	char text[STR_DOUBLE_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		ck_assert_str_eq(str_from_double(text, known[i].v), known[i].text);
	for (size_t i = 0; i < ARRAY_LEN(floats); i++)
		ck_assert_str_eq(str_from_float(text, floats[i].v), floats[i].text);
}

TEST(digits_that_are_none_are_refused)
{
	uint8_t out[2] = { 7, 7 };

	ck_assert_int_eq(str_from_hex(out, 2, "00g0"), -ERR_INVALID);
	ck_assert_int_eq(str_from_hex(out, 2, "0 00"), -ERR_INVALID);
	ck_assert_int_eq(str_from_hex(out, 2, NULL), -ERR_INVALID);
	ck_assert_uint_eq(out[0], 7);
	ck_assert_int_eq(str_from_hex(out, 2, "aFf0"), 0);
	ck_assert(out[0] == 0xaf && out[1] == 0xf0);
	ck_assert_int_eq(str_from_base32(out, 2, NULL), -ERR_INVALID);
	ck_assert_int_eq(str_from_base32(out, 2, "00-0"), -ERR_INVALID);
	ck_assert_int_eq(str_from_base32(out, 0, ""), 0);
	ck_assert_int_eq(str_to_double(NULL, 0, 1, &(double){ 0 }), -ERR_INVALID);
	ck_assert_int_eq(str_to_u64(NULL, 0, 1, &(uint64_t){ 0 }), -ERR_INVALID);
	ck_assert_int_eq(str_to_hex64(NULL, &(uint64_t){ 0 }), -ERR_INVALID);
}

TEST(encodings_return)
{
	struct rng r;

	rng_init(&r, suite_seed(4));
	for (size_t n = 0; n < 70; n++) {
		uint8_t raw[70], back[70];
		char text[STR_HEX_LEN(70) + 1];

		for (size_t i = 0; i < n; i++)
			raw[i] = (uint8_t)rng_next(&r);
		str_base32(text, raw, n);
		ck_assert_uint_eq(strlen(text), STR_BASE32_LEN(n));
		ck_assert_int_eq(str_from_base32(back, n, text), 0);
		ck_assert(memcmp(raw, back, n) == 0);
		str_hex(text, raw, n);
		ck_assert_uint_eq(strlen(text), STR_HEX_LEN(n));
		ck_assert_int_eq(str_from_hex(back, n, text), 0);
		ck_assert(memcmp(raw, back, n) == 0);
		ck_assert_int_lt(str_from_hex(back, n + 1, text), 0);
		if (n)
			ck_assert_int_lt(str_from_hex(back, n - 1, text), 0);
	}
}

TEST(base32_is_read_as_people_write_it)
{
	uint8_t raw[5] = { 0x08, 0x42, 0x00, 0xff, 0xee }, back[5];
	char text[STR_BASE32_LEN(5) + 1];

	str_base32(text, raw, sizeof(raw));
	ck_assert_str_eq(text, "11101zze");
	ck_assert_int_eq(str_from_base32(back, 5, "LiIoLZZE"), 0);
	ck_assert(memcmp(raw, back, 5) == 0);
	ck_assert_int_lt(str_from_base32(back, 5, "11101zzu"), 0); /* no such digit */
	ck_assert_int_lt(str_from_base32(back, 5, "11101zz"), 0);
	ck_assert_int_lt(str_from_base32(back, 5, "11101zzee"), 0);
	ck_assert_int_lt(str_from_base32(back, 1, "01"), 0); /* spare bits */
	ck_assert_int_eq(str_from_base32(back, 1, "04"), 0);
	ck_assert_uint_eq(back[0], 1);
}

SUITE("num")
