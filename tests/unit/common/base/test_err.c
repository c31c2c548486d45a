/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "common/base/str.h"
#include "tests/suite.h"

#include <errno.h>
#include <string.h>

TEST(set_returns_the_negative_code_and_keeps_errno)
{
	struct err e = { .line = 7, .sys = 3 };

	errno = EINTR;
	ck_assert_int_eq(err_set(&e, ERR_LIMIT, "%d frames", 3), -ERR_LIMIT);
	ck_assert_int_eq(errno, EINTR);
	ck_assert_int_eq(e.code, ERR_LIMIT);
	ck_assert_str_eq(e.text, "3 frames");
	ck_assert_uint_eq(e.line, 0);
	ck_assert_int_eq(e.sys, 0);
}

TEST(a_struct_err_is_optional)
{
	ck_assert_int_eq(err_set(NULL, ERR_PROTO, "x"), -ERR_PROTO);
	ck_assert_int_eq(err_sys(NULL, "x"), -ERR_SYS);
	ck_assert_int_eq(err_nomem(NULL), -ERR_NOMEM);
	ck_assert_int_eq(err_add(NULL, "x"), -ERR_INTERNAL);
	ck_assert_int_eq(err_at(NULL, 1, 1), -ERR_INTERNAL);
}

TEST(err_sys_appends_the_text_of_errno)
{
	struct err e = { 0 };

	errno = ENOENT;
	ck_assert_int_eq(err_sys(&e, "%s", "/a"), -ERR_SYS);
	ck_assert_str_eq(e.text, "/a: No such file or directory");
	ck_assert_int_eq(e.sys, ENOENT);
	ck_assert_int_eq(errno, ENOENT);
}

TEST(add_puts_context_in_front)
{
	struct err e = { 0 };

	err_set(&e, ERR_PARSE, "odd token");
	ck_assert_int_eq(err_at(&e, 3, 9), -ERR_PARSE);
	ck_assert_int_eq(err_add(&e, "file %d", 1), -ERR_PARSE);
	ck_assert_str_eq(e.text, "file 1: odd token");
	ck_assert_uint_eq(e.line, 3);
	ck_assert_uint_eq(e.col, 9);
}

TEST(a_long_text_is_cut_at_a_character)
{
	struct err e = { 0 };
	char text[400];

	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 3);
	for (int shift = 0; shift < 2; shift++) {
		err_set(&e, ERR_PARSE, "%s%s", shift ? "x" : "", text);
		ck_assert_uint_ge(strlen(e.text), ERR_TEXT_BYTES - 2);
		ck_assert(str_is_utf8(e.text, strlen(e.text)));
	}
	err_add(&e, "%s", text);
	ck_assert(str_is_utf8(e.text, strlen(e.text)));
}

TEST(a_long_error_text_is_cut_at_a_blank)
{
	static const char words[] = "sixteen letters ";
	char text[2 * ERR_TEXT_BYTES] = "";
	struct err e = { 0 };
	size_t n;

	for (size_t i = 0; i + sizeof(words) < sizeof(text); i += sizeof(words) - 1)
		memcpy(text + i, words, sizeof(words));
	for (size_t shift = 0; shift < sizeof(words); shift++) {
		err_set(&e, ERR_PARSE, "%s", text + shift);
		n = strlen(e.text);
		ck_assert_uint_gt(n, ERR_TEXT_BYTES - sizeof(words));
		ck_assert_str_eq(e.text + n - 3, "...");
		ck_assert_mem_eq(e.text, text + shift, n - 3);
		ck_assert_int_eq(text[shift + n - 3], ' ');
	}
	err_set(&e, ERR_PARSE, "%.*s", ERR_TEXT_BYTES - 1, text);
	ck_assert_mem_eq(e.text, text, ERR_TEXT_BYTES - 1);
}

TEST(an_argument_may_be_the_text_itself)
{
	struct err e = { 0 };

	err_set(&e, ERR_PARSE, "inner");
	err_set(&e, ERR_LIMIT, "outer(%s)", e.text);
	ck_assert_str_eq(e.text, "outer(inner)");
}

TEST(each_code_has_a_name_of_its_own)
{
	for (int i = 0; i < ERR_NCODES; i++) {
		ck_assert_str_ne(err_name(i), "UNKNOWN");
		ck_assert_ptr_eq(err_name(i), err_name(-i));
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(err_name(i), err_name(k));
	}
	ck_assert_str_eq(err_name(ERR_NCODES), "UNKNOWN");
	ck_assert_str_eq(err_name(INT32_MIN), "UNKNOWN");
}

SUITE("err")
