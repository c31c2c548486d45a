/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of JSON: each token with its place, in pieces of every size. */
#include "common/json/jsonread.h"
#include "tests/suite.h"

struct pieces {
	const char *text;
	size_t n, at, size;
	char piece[64]; /* overwritten with each piece: a reader that kept a pointer would fail */
};

static int fill(void *arg, const uint8_t **p, size_t *n, struct err *e)
{
	struct pieces *x = arg;
	size_t left = x->n - x->at, size = left < x->size ? left : x->size;

	(void)e;
	memset(x->piece, '?', sizeof(x->piece));
	memcpy(x->piece, x->text + x->at, size);
	x->at += size;
	*p = (const uint8_t *)x->piece;
	*n = size;
	return 0;
}

/* All tokens as text; an error ends it with its place. */
static const char *read_all(const char *text, size_t size)
{
	static char out[1024];
	struct pieces x = { .text = text, .n = strlen(text), .size = size };
	struct jsonread r;
	struct err e = { 0 };
	size_t n = 0;
	int got;

	jsonread_init(&r, fill, &x);
	out[0] = '\0';
	while ((got = jsonread_next(&r, &e)) > 0) {
		static const char marks[] = "?{}[]:snTFN";

		n += (size_t)snprintf(out + n, sizeof(out) - n, "%c", marks[got]);
		if (got == JSONREAD_KEY || got == JSONREAD_STRING || got == JSONREAD_NUMBER)
			n += (size_t)snprintf(out + n, sizeof(out) - n, "%.*s ", (int)r.n, r.text);
	}
	if (got < 0)
		snprintf(out + n, sizeof(out) - n, "!%u:%u %s", e.line, e.col, e.text);
	jsonread_done(&r);
	return out;
}

static const struct {
	const char *text, *tokens;
} documents[] = {
	{ "", "" },
	{ " {} ", "{}" },
	{ "[]", "[]" },
	{ "{\"a\": 1, \"b\": [true,false,null]}", "{:a n1 :b [TFN]}" },
	{ "{\"a\":{}}\n{\"b\":[]}", "{:a {}}{:b []}" },
	{ "[-1.5e+3, 0, 9223372036854775808]", "[n-1.5e+3 n0 n9223372036854775808 ]" },
	{ "[\"a\\n\\\"\\u00e9\\ud83d\\ude00\"]", "[sa\n\"\xc3\xa9\xf0\x9f\x98\x80 ]" },
	{ "[1", "[n1 !1:3 the input ends inside of a value" },
	{ "[1,", "[n1 !1:4 the input ends inside of a value" },
	{ "[1,]", "[n1 !1:4 a value is missing" },
	{ "{\"a\" 1}", "{!1:6 ':' is missing behind a key" },
	{ "{1:2}", "{!1:2 a key in quotes is missing" },
	{ "{\"a\":1,}", "{:a n1 !1:8 a key in quotes is missing" },
	{ "[1 2]", "[n1 !1:4 ',' or an end is missing" },
	{ "[\n  01]", "[!2:3 not a number" },
	{ "[-]", "[!1:2 not a number" },
	{ "[1.]", "[!1:2 not a number" },
	{ "[tru]", "[!1:2 not a value of JSON" },
	{ "]", "!1:1 a value is missing" },
	{ "[\"\\ud800x\"]", "[!1:9 half of a surrogate pair" },
	{ "[\"\\q\"]", "[!1:4 an unknown escape" },
	{ "[\"a\nb\"]", "[!1:4 a control character in a string" },
	{ "[\"abc", "[!1:6 the string does not end" },
	{ "[\"\xff\"]", "[!1:2 a string that is not UTF-8" },
};

TEST_EACH(tokens_do_not_depend_on_the_pieces, i, (int)ARRAY_LEN(documents))
{
	for (size_t size = 1; size < 50; size++)
		ck_assert_str_eq(read_all(documents[i].text, size), documents[i].tokens);
}

TEST(levels_are_limited)
{
	char text[JSONREAD_DEPTH_MAX + 2];

	memset(text, '[', sizeof(text));
	text[JSONREAD_DEPTH_MAX + 1] = '\0';
	ck_assert(strstr(read_all(text, 50), "!1:33 more than 32 levels"));
	text[JSONREAD_DEPTH_MAX] = '\0';
	ck_assert(strstr(read_all(text, 50), "!1:33 the input ends inside"));
}

TEST(strings_are_limited)
{
	size_t n = JSONREAD_TEXT_MAX;
	char *text = malloc(n + 4);
	struct jsonread r;
	struct err e = { 0 };

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', n + 4);
	text[0] = text[n + 2] = '"';
	jsonread_init_bytes(&r, text, n + 3);
	ck_assert_int_eq(jsonread_next(&r, &e), -ERR_LIMIT);
	jsonread_done(&r);
	text[n + 1] = '"';
	jsonread_init_bytes(&r, text, n + 2);
	ck_assert_int_eq(jsonread_next(&r, &e), JSONREAD_STRING);
	ck_assert_uint_eq(r.n, n);
	jsonread_done(&r);
	free(text);
}

TEST(integers_are_exact_up_to_64_bits)
{
	static const char text[] =
		"9223372036854775807 -9223372036854775808 9223372036854775808 1.0";
	struct jsonread r;
	struct err e = { 0 };
	int64_t v;
	uint64_t u;

	jsonread_init_bytes(&r, text, strlen(text));
	ck_assert_int_eq(jsonread_next(&r, &e), JSONREAD_NUMBER);
	ck_assert(!jsonread_i64(&r, &v, &e));
	ck_assert_int_eq(v, INT64_MAX);
	ck_assert_int_eq(jsonread_next(&r, &e), JSONREAD_NUMBER);
	ck_assert(!jsonread_i64(&r, &v, &e));
	ck_assert_int_eq(v, INT64_MIN);
	ck_assert_int_eq(jsonread_u64(&r, &u, &e), -ERR_INVALID);
	ck_assert_int_eq(jsonread_next(&r, &e), JSONREAD_NUMBER);
	ck_assert_int_eq(jsonread_i64(&r, &v, &e), -ERR_INVALID);
	ck_assert_uint_eq(e.col, 42);
	ck_assert(!jsonread_u64(&r, &u, &e));
	ck_assert_int_eq(jsonread_next(&r, &e), JSONREAD_NUMBER);
	ck_assert_int_eq(jsonread_i64(&r, &v, &e), -ERR_INVALID);
	jsonread_done(&r);
}

TEST(a_skipped_value_is_whole)
{
	static const char text[] = "{\"a\":{\"b\":[1,{}]},\"c\":2}";
	struct jsonread r;
	struct err e = { 0 };

	jsonread_init_bytes(&r, text, strlen(text));
	ck_assert_int_eq(jsonread_next(&r, &e), JSONREAD_OBJECT);
	ck_assert_int_eq(jsonread_next(&r, &e), JSONREAD_KEY);
	ck_assert(!jsonread_skip(&r, jsonread_next(&r, &e), &e));
	ck_assert_int_eq(jsonread_next(&r, &e), JSONREAD_KEY);
	ck_assert(jsonread_is(&r, "c"));
	jsonread_done(&r);
}

SUITE("json")
