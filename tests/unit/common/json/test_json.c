/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/json/failure.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <locale.h>
#include <math.h>
#include <string.h>

TEST(a_failure_is_an_object_on_one_line)
{
	char text[256] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(to);
	json_print_failure(to, 4, "no \"x\"\n");
	fclose(to);
	ck_assert_str_eq(text, "{\"error\":{\"status\":4,\"text\":\"no \\\"x\\\"\\u000a\"}}\n");
}

TEST(containers_nest_with_their_commas)
{
	struct buf b = BUF_INIT(1000);
	struct json j;

	json_init(&j, &b);
	json_object(&j);
	json_key_array(&j, "a");
	json_i64(&j, INT64_MIN);
	json_u64(&j, UINT64_MAX);
	json_array(&j);
	json_array_end(&j);
	json_object(&j);
	json_object_end(&j);
	json_array_end(&j);
	json_key(&j, "b");
	json_bool(&j, true);
	json_key(&j, "c");
	json_null(&j);
	json_key(&j, "d");
	json_str(&j, NULL);
	json_object_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_str_eq(buf_str(&b), "{\"a\":[-9223372036854775808,18446744073709551615,[],{}],"
				      "\"b\":true,\"c\":null,\"d\":null}");
	buf_done(&b);
}

static const char *string_is(const char *p, size_t n)
{
	static char out[100];
	struct buf b = BUF_INIT(99);
	struct json j;

	json_init(&j, &b);
	json_str_n(&j, p, n);
	ck_assert_int_eq(json_end(&j), 0);
	memcpy(out, b.p, b.n + 1);
	buf_done(&b);
	return out;
}

TEST(strings_are_escaped)
{
	ck_assert_str_eq(string_is("", 0), "\"\"");
	ck_assert_str_eq(string_is("a\"b\\c/", 6), "\"a\\\"b\\\\c/\"");
	ck_assert_str_eq(string_is("\n\0\x7f", 3), "\"\\u000a\\u0000\\u007f\"");
	/* C1: 0x9b begins a command to a terminal as ESC [ does. */
	ck_assert_str_eq(string_is("\xc2\x80\xc2\x9b\xc2\xa0", 6), "\"\\u0080\\u009b\xc2\xa0\"");
	ck_assert_str_eq(string_is("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9),
			 "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
	ck_assert_str_eq(string_is("a\xff\xc3", 3), "\"a\\ufffd\\ufffd\"");
	ck_assert_str_eq(string_is("\xe2\x82z", 3), "\"\\ufffd\\ufffdz\"");
}

static double double_back(double v)
{
	struct buf b = BUF_INIT(99);
	struct json j;
	double back;

	json_init(&j, &b);
	json_double(&j, v);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_int_eq(str_to_double(buf_str(&b), -INFINITY, INFINITY, &back), 0);
	buf_done(&b);
	return back;
}

TEST(doubles_read_back_exactly)
{
	struct rng r;

	rng_init(&r, suite_seed(9));
	ck_assert(double_back(0.1) == 0.1);
	for (int i = 0; i < 20000; i++) {
		uint64_t raw = rng_next(&r);
		double v;

		memcpy(&v, &raw, sizeof(v));
		if (isfinite(v))
			ck_assert(double_back(v) == v);
	}
}

TEST(json_writes_nan_and_infinity_as_null)
{
	struct buf b = BUF_INIT(99);
	struct json j;

	json_init(&j, &b);
	json_array(&j);
	json_double(&j, NAN);
	json_double(&j, INFINITY);
	json_double(&j, -0.5);
	json_array_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_str_eq(buf_str(&b), "[null,null,-0.5]");
	buf_done(&b);
}

typedef void misuse_fn(struct json *j);

static void value_without_key(struct json *j)
{
	json_object(j);
	json_i64(j, 1);
	json_object_end(j);
}

static void key_without_value(struct json *j)
{
	json_object(j);
	json_key(j, "a");
	json_object_end(j);
}

static void wrong_end(struct json *j)
{
	json_object(j);
	json_array_end(j);
}

static void open_end(struct json *j)
{
	json_array(j);
}

static void two_roots(struct json *j)
{
	json_i64(j, 1);
	json_i64(j, 1);
}

static void key_at_the_top(struct json *j)
{
	json_key(j, "a");
	json_i64(j, 1);
}

static void too_deep(struct json *j)
{
	for (int i = 0; i <= JSON_DEPTH_MAX; i++)
		json_array(j);
	for (int i = 0; i <= JSON_DEPTH_MAX; i++)
		json_array_end(j);
}

static void nothing(struct json *j)
{
}

TEST(misuse_is_reported_at_the_end)
{
	static misuse_fn *const misuses[] = { value_without_key, key_without_value,
					      wrong_end,	 open_end,
					      two_roots,	 key_at_the_top,
					      too_deep,		 nothing };

	for (size_t i = 0; i < ARRAY_LEN(misuses); i++) {
		struct buf b = BUF_INIT(1000);
		struct json j;

		json_init(&j, &b);
		misuses[i](&j);
		ck_assert_int_eq(json_end(&j), -ERR_INTERNAL);
		buf_done(&b);
	}
}

TEST(a_full_buffer_is_reported_at_the_end)
{
	for (size_t max = 0; max < 12; max++) {
		struct buf b = BUF_INIT(max);
		struct json j;

		json_init(&j, &b);
		json_str(&j, "0123456789");
		ck_assert_int_eq(json_end(&j), -ERR_LIMIT);
		buf_done(&b);
	}
	ALLOC_SWEEP (k) {
		struct buf b = BUF_INIT(1000);
		struct json j;
		int rc;

		json_init(&j, &b);
		json_array(&j);
		for (int i = 0; i < 50; i++)
			json_i64(&j, i);
		json_array_end(&j);
		rc = json_end(&j);
		alloc_sweep_pause();
		ck_assert_int_eq(!rc, !alloc_sweep_has_failed());
		buf_done(&b);
	}
}

TEST(keys_with_values)
{
	struct buf b;
	struct json j;

	buf_init(&b, 4096);
	json_init(&j, &b);
	json_object(&j);
	json_key_str(&j, "s", "x");
	json_key_str(&j, "n", NULL);
	json_key_i64(&j, "i", -1);
	json_key_u64(&j, "u", UINT64_MAX);
	json_key_double(&j, "d", 0.5);
	json_key_bool(&j, "b", true);
	json_object_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_str_eq(buf_str(&b), "{\"s\":\"x\",\"n\":null,\"i\":-1,"
				      "\"u\":18446744073709551615,\"d\":0.5,\"b\":true}");
	buf_done(&b);
}

TEST(a_key_with_a_value_is_permitted_in_objects_only)
{
	struct buf b;
	struct json j;

	buf_init(&b, 4096);
	json_init(&j, &b);
	json_array(&j);
	json_key_i64(&j, "i", 1);
	json_array_end(&j);
	ck_assert_int_ne(json_end(&j), 0);
	buf_done(&b);
}

/*
 * Reads JSON, such as that of the random writer below. Returns the rest, NULL when it is not JSON.
 */
static const char *skip_value(const char *s);

static const char *skip_string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	for (; *s && *s != '"'; s++) {
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s == '\\' && !*++s)
			return NULL;
	}
	return *s == '"' ? s + 1 : NULL;
}

static const char *skip_container(const char *s, char end, bool keyed)
{
	if (*++s == end)
		return s + 1;
	for (;;) {
		if (keyed) {
			s = skip_string(s);
			if (!s || *s++ != ':')
				return NULL;
		}
		s = skip_value(s);
		if (!s || (*s != ',' && *s != end))
			return NULL;
		if (*s++ == end)
			return s;
	}
}

static const char *skip_value(const char *s)
{
	size_t n = strspn(s, "-+.0123456789eE");

	if (*s == '{')
		return skip_container(s, '}', true);
	if (*s == '[')
		return skip_container(s, ']', false);
	if (*s == '"')
		return skip_string(s);
	if (strncmp(s, "true", 4) == 0 || strncmp(s, "null", 4) == 0)
		return s + 4;
	return n ? s + n : NULL;
}

static void write_random(struct json *j, struct rng *r, int depth)
{
	uint8_t raw[6];
	uint64_t n = rng_below(r, 5), kind = rng_below(r, depth > 5 ? 4 : 6);

	for (size_t i = 0; i < sizeof(raw); i++)
		raw[i] = (uint8_t)rng_next(r);
	if (kind == 0)
		json_str_n(j, raw, n);
	if (kind == 1)
		json_i64(j, (int64_t)rng_next(r));
	if (kind == 2)
		json_double(j, rng_double(r));
	if (kind == 3)
		json_bool(j, true);
	if (kind == 4) {
		json_array(j);
		for (uint64_t i = 0; i < n; i++)
			write_random(j, r, depth + 1);
		json_array_end(j);
	}
	if (kind == 5) {
		json_object(j);
		for (uint64_t i = 0; i < n; i++) {
			json_key(j, "k\"");
			write_random(j, r, depth + 1);
		}
		json_object_end(j);
	}
}

TEST(random_values_are_well_formed)
{
	struct rng r;

	rng_init(&r, suite_seed(10));
	for (int i = 0; i < 5000; i++) {
		struct buf b = BUF_INIT(1 << 20);
		struct json j;
		const char *end;

		json_init(&j, &b);
		write_random(&j, &r, 0);
		ck_assert_int_eq(json_end(&j), 0);
		ck_assert(str_is_utf8(b.p, b.n));
		end = skip_value(buf_str(&b));
		ck_assert_msg(end && !*end, "no JSON: %s", buf_str(&b));
		buf_done(&b);
	}
}

SUITE("json")
