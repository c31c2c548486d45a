/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others on a terminal. */
#include "tests/suite.h"
#include "tools/term/term.h"

#include <stdio.h>
#include <string.h>

static char shown[256];

static const char *put(void (*fn)(FILE *, const char *, size_t), const char *text)
{
	FILE *to = tmpfile();
	size_t n;

	ck_assert_ptr_nonnull(to);
	fn(to, text, strlen(text));
	rewind(to);
	n = fread(shown, 1, sizeof(shown) - 1, to);
	shown[n] = '\0';
	fclose(to);
	return shown;
}

TEST(control_characters_are_escaped)
{
	ck_assert_str_eq(put(term_put_safe, "a\x1b[2J\n\xff"), "a\\x1b[2J\\x0a\\xff");
	ck_assert_str_eq(put(term_put_safe, "\xc3\xa4 \"b\""), "\xc3\xa4 \"b\"");
}

TEST(lines_stay_lines)
{
	ck_assert_str_eq(put(term_put_lines, "one\n\n  two\r"), "one\n\n  two\\x0d\n");
	ck_assert_str_eq(put(term_put_lines, "one\n"), "one\n");
	ck_assert_str_eq(put(term_put_lines, ""), "");
}

SUITE("term")
