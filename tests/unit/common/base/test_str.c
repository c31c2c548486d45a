/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

#define UTF8(s) str_is_utf8(s, sizeof(s) - 1)

TEST(utf8_is_checked_strictly)
{
	ck_assert(UTF8(""));
	ck_assert(UTF8("plain"));
	ck_assert(UTF8("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
	ck_assert(UTF8("\xf4\x8f\xbf\xbf"));
	ck_assert(UTF8("a\0b"));
	ck_assert(!UTF8("\x80"));
	ck_assert(!UTF8("\xc3"));
	ck_assert(!UTF8("\xc0\xaf")); /* overlong */
	ck_assert(!UTF8("\xc1\xbf"));
	ck_assert(!UTF8("\xe0\x9f\xbf"));
	ck_assert(!UTF8("\xf0\x8f\xbf\xbf"));
	ck_assert(!UTF8("\xed\xa0\x80")); /* surrogate */
	ck_assert(!UTF8("\xf4\x90\x80\x80")); /* above the last character */
	ck_assert(!UTF8("\xf5\x80\x80\x80"));
	ck_assert(!UTF8("\xe2\x82 "));
}

TEST(every_character_is_well_formed_and_no_surrogate_is)
{
	struct buf written = BUF_INIT(16);

	for (uint32_t cp = 0x80; cp <= 0x10ffff; cp++) {
		uint32_t read;
		uint8_t raw[4];
		size_t n;

		if (cp < 0x800) {
			n = 2;
			raw[0] = (uint8_t)(0xc0 | cp >> 6);
		} else if (cp < 0x10000) {
			n = 3;
			raw[0] = (uint8_t)(0xe0 | cp >> 12);
		} else {
			n = 4;
			raw[0] = (uint8_t)(0xf0 | cp >> 18);
		}
		for (size_t i = 1; i < n; i++)
			raw[i] = (uint8_t)(0x80 | (cp >> (6 * (n - 1 - i)) & 0x3f));
		ck_assert_int_eq(str_is_utf8(raw, n), cp < 0xd800 || cp > 0xdfff);
		buf_clear(&written);
		ck_assert_int_eq(buf_put_utf8(&written, cp), 0);
		ck_assert_uint_eq(written.n, n);
		ck_assert_mem_eq(written.p, raw, n);
		if (cp < 0xd800 || cp > 0xdfff) {
			ck_assert_uint_eq(str_utf8_at(raw, n, &read), n);
			ck_assert_uint_eq(read, cp);
		}
		ck_assert_uint_eq(str_utf8_at(raw, n - 1, &read), 0);
	}
	buf_done(&written);
}

TEST(names_are_fit_to_be_shown)
{
	char longest[NAME_MAX_BYTES + 2];

	memset(longest, 'x', sizeof(longest));
	ck_assert(str_is_name(longest, NAME_MAX_BYTES - 1));
	ck_assert(str_is_name(longest, NAME_MAX_BYTES));
	ck_assert(!str_is_name(longest, NAME_MAX_BYTES + 1));
	ck_assert(str_is_name("node 1", 6));
	ck_assert(str_is_name("\xc3\xa9", 2));
	ck_assert(!str_is_name("", 0));
	ck_assert(!str_is_name("a\nb", 3));
	ck_assert(!str_is_name("a\0b", 3));
	ck_assert(!str_is_name("\x1b[2J", 4));
	ck_assert(!str_is_name("\x7f", 1));
	ck_assert(!str_is_name("\xc2\x9b", 2)); /* C1 */
	ck_assert(!str_is_name("a\xe2\x80\xae"
			       "b",
			       5)); /* right-to-left override */
	ck_assert(!str_is_name("\xff", 1));
}

static const char *escaped(const void *p, size_t n, size_t size)
{
	static char out[200];

	memset(out, 'Z', sizeof(out));
	str_escape(out, size, p, n);
	ck_assert_uint_lt(strlen(out), size);
	ck_assert_int_eq(out[size], 'Z');
	return out;
}

TEST(escapes_are_safe_for_a_terminal)
{
	ck_assert_str_eq(escaped("a\n\t\"\\", 5, 100), "a\\n\\t\\\"\\\\");
	ck_assert_str_eq(escaped("\x1b[2J\0x", 6, 100), "\\x1b[2J\\x00x");
	ck_assert_str_eq(escaped("\xc3\xa9\xff\xc2\x9b", 5, 100), "\xc3\xa9\\xff\\xc2\\x9b");
	ck_assert_str_eq(escaped("", 0, 100), "");
}

TEST(escaped_text_is_not_escaped_again)
{
	char out[16];

	ck_assert_str_eq(str_show(out, sizeof(out), "a\\tb\\\\c"), "a\\tb\\\\c");
	ck_assert_str_eq(str_show(out, sizeof(out), ""), "");
	ck_assert_str_eq(str_show(out, sizeof(out), "a\tb"), "a\\tb");
	ck_assert_str_eq(str_show(out, sizeof(out), "\xff"), "\\xff");
	ck_assert_str_eq(str_show(out, sizeof(out), "0123456789abcdef"), "0123456789ab...");
}

TEST(a_cut_escape_reports_that)
{
	ck_assert_str_eq(escaped("abcdefgh", 8, 9), "abcdefgh");
	ck_assert_str_eq(escaped("abcdefgh", 8, 8), "abcd...");
	ck_assert_str_eq(escaped("a\n\n\n\n", 5, 8), "a\\n...");
	ck_assert_str_eq(escaped("abcdefgh", 8, 4), "abc");
	ck_assert_str_eq(escaped("abcdefgh", 8, 1), "");
}

TEST(random_bytes_escape_into_printable_utf8_of_any_size)
{
	struct rng r;

	rng_init(&r, suite_seed(3));
	for (int i = 0; i < 20000; i++) {
		uint8_t raw[40];
		const char *out;

		for (size_t k = 0; k < sizeof(raw); k++)
			raw[k] = (uint8_t)rng_next(&r);
		out = escaped(raw, rng_below(&r, sizeof(raw)), 1 + rng_below(&r, 190));
		ck_assert(str_is_utf8(out, strlen(out)));
		ck_assert(!*out || str_is_name(out, strlen(out)));
	}
}

TEST(a_copy_is_cut_at_a_character)
{
	char out[5];

	ck_assert(str_copy(out, sizeof(out), "abcd"));
	ck_assert_str_eq(out, "abcd");
	ck_assert(!str_copy(out, sizeof(out), "abcde"));
	ck_assert_str_eq(out, "abcd");
	ck_assert(!str_copy(out, sizeof(out), "abc\xc3\xa9"));
	ck_assert_str_eq(out, "abc");
	ck_assert(!str_copy(out, 1, "x"));
	ck_assert_str_eq(out, "");
}

TEST(comparisons_and_copies_take_null)
{
	char *s;

	ck_assert(str_eq(NULL, NULL));
	ck_assert(!str_eq(NULL, ""));
	ck_assert(str_eq("a", "a"));
	ck_assert(str_has_prefix("abc", "ab"));
	ck_assert(str_has_prefix("abc", ""));
	ck_assert(!str_has_prefix("ab", "abc"));
	ck_assert(str_has_suffix("abc", "bc"));
	ck_assert(str_has_suffix("abc", ""));
	ck_assert(!str_has_suffix("bc", "abc"));
	ck_assert(!str_has_suffix("abc", "ab"));
	ck_assert_ptr_null(str_dup(NULL));
	ck_assert_ptr_null(str_ndup(NULL, 3));
	s = str_ndup("abcdef", 3);
	ck_assert_str_eq(s, "abc");
	free(s);
	alloc_sweep_arm(1);
	s = str_dup("abc");
	alloc_sweep_pause();
	ck_assert_ptr_null(s);
}

TEST(constant_time_equality_is_equality)
{
	uint8_t a[32] = { 0 }, b[32] = { 0 };

	ck_assert(str_equal_ct(a, b, sizeof(a)));
	for (size_t i = 0; i < 8 * sizeof(a); i++) {
		b[i / 8] ^= (uint8_t)(1 << i % 8);
		ck_assert(!str_equal_ct(a, b, sizeof(a)));
		b[i / 8] = 0;
	}
	ck_assert(str_equal_ct(a, b, 0));
}

TEST(white_space_is_cut_off_both_ends)
{
	char all[] = " \t\n\v\f\r", both[] = "\t a b \r\n", none[] = "a", empty[] = "";

	ck_assert_str_eq(str_trim(all), "");
	ck_assert_str_eq(str_trim(both), "a b");
	ck_assert_str_eq(str_trim(none), "a");
	ck_assert_str_eq(str_trim(empty), "");
}

SUITE("str")
