/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/text/lex.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "pmsl/text/tree.h"

#include <math.h>
#include <string.h>

#define NUMBER_MAX_BYTES 64 /* a double needs 24 */

static const char *const keywords[PMSL_KEYWORDS] = {
	[PMSL_K_RETURN] = "RETURN", [PMSL_K_PROBE] = "PROBE", [PMSL_K_AT] = "AT",
	[PMSL_K_WHERE] = "WHERE",   [PMSL_K_IN] = "IN",	      [PMSL_K_AND] = "AND",
	[PMSL_K_OR] = "OR",	    [PMSL_K_NOT] = "NOT",     [PMSL_K_IF] = "IF",
};

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool begins_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int peek(const struct pmsl_lexer *l, size_t ahead)
{
	return l->s->n - l->at > ahead ? (unsigned char)l->s->text[l->at + ahead] : -1;
}

static void skip_block(struct pmsl_lexer *l)
{
	size_t begin = l->at;

	for (l->at += 2; l->at < l->s->n; l->at++)
		if (peek(l, 0) == '*' && peek(l, 1) == '/') {
			l->at += 2;
			return;
		}
	pmsl_error(l->d, (uint32_t)begin, 2, "the comment has no end");
}

static void skip_line(struct pmsl_lexer *l)
{
	const char *end = memchr(l->s->text + l->at, '\n', l->s->n - l->at);

	l->at = end ? (size_t)(end - l->s->text) : l->s->n;
}

static void skip_blanks(struct pmsl_lexer *l)
{
	for (;;) {
		int c = peek(l, 0);

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f')
			l->at++;
		else if (c == '/' && peek(l, 1) == '*')
			skip_block(l);
		else if (c == '/' && peek(l, 1) == '/')
			skip_line(l);
		else
			return;
	}
}

/* True for the word in capitals or in small letters: in mixed case it is a name. */
static bool is_word(const char *p, size_t n, const char *word)
{
	bool is_lower = p[0] >= 'a';

	if (strlen(word) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (p[i] != (is_lower && word[i] != '_' ? word[i] | 0x20 : word[i]))
			return false;
	return true;
}

static void classify(const struct pmsl_lexer *l, struct pmsl_word *w)
{
	const char *p = l->s->text + w->at;

	w->kind = PMSL_W_NAME;
	for (unsigned i = 0; i < PMSL_KEYWORDS; i++)
		if (is_word(p, w->len, keywords[i])) {
			w->kind = PMSL_W_KEYWORD;
			w->sub = i;
		}
	for (unsigned i = 0; i < PMSL_FOLDS; i++)
		if (is_word(p, w->len, pmsl_fold_name(i))) {
			w->kind = PMSL_W_FOLD;
			w->sub = i;
		}
}

static void lex_name(struct pmsl_lexer *l, struct pmsl_word *w)
{
	while (begins_name(peek(l, 0)) || is_digit(peek(l, 0)))
		l->at++;
	w->len = (uint32_t)l->at - w->at;
	if (w->len > NAME_MAX_BYTES) {
		pmsl_error(l->d, w->at, 16, "a name may have %d characters, this one has %u",
			   NAME_MAX_BYTES, w->len);
		w->len = NAME_MAX_BYTES;
	}
	classify(l, w);
}

static void skip_digits(struct pmsl_lexer *l)
{
	while (is_digit(peek(l, 0)))
		l->at++;
}

static void skip_exponent(struct pmsl_lexer *l)
{
	int sign = peek(l, 1) == '+' || peek(l, 1) == '-';

	if ((peek(l, 0) | 0x20) != 'e' || !is_digit(peek(l, 1 + (size_t)sign)))
		return;
	l->at += 1 + (size_t)sign;
	skip_digits(l);
}

static void lex_number(struct pmsl_lexer *l, struct pmsl_word *w)
{
	char text[NUMBER_MAX_BYTES + 1];

	w->kind = PMSL_W_NUMBER;
	w->is_integer = true;
	skip_digits(l);
	if (peek(l, 0) == '.' && is_digit(peek(l, 1))) {
		w->is_integer = false;
		l->at++;
		skip_digits(l);
	}
	if ((peek(l, 0) | 0x20) == 'e') {
		w->is_integer = false;
		skip_exponent(l);
	}
	w->len = (uint32_t)l->at - w->at;
	if (begins_name(peek(l, 0))) {
		pmsl_error(l->d, w->at, w->len + 1, "a number does not end in a letter");
		while (begins_name(peek(l, 0)) || is_digit(peek(l, 0)))
			l->at++;
		return;
	}
	str_copy(text, sizeof(text), "");
	if (w->len <= NUMBER_MAX_BYTES) {
		memcpy(text, l->s->text + w->at, w->len);
		text[w->len] = '\0';
	}
	if (str_to_double(text, -HUGE_VAL, HUGE_VAL, &w->number))
		pmsl_error(l->d, w->at, w->len, "the number is too large, or has too many digits");
}

static void lex_string(struct pmsl_lexer *l, struct pmsl_word *w)
{
	w->kind = PMSL_W_STRING;
	w->at = (uint32_t)++l->at;
	while (peek(l, 0) != '"' && peek(l, 0) != '\n' && peek(l, 0) >= 0)
		l->at++;
	w->len = (uint32_t)l->at - w->at;
	if (peek(l, 0) == '"')
		l->at++;
	else
		pmsl_error(l->d, w->at - 1, 1, "the string has no end on its line");
	if (!str_is_utf8(l->s->text + w->at, w->len) || w->len > NAME_MAX_BYTES) {
		pmsl_error(l->d, w->at, 1, "a string has at most %d bytes of UTF-8",
			   NAME_MAX_BYTES);
		w->len = 0;
	}
}

static bool lex_mark(struct pmsl_lexer *l, struct pmsl_word *w)
{
	static const char pairs[] = "==!=<=>=";
	int c = peek(l, 0);

	w->kind = PMSL_W_MARK;
	for (unsigned i = 0; i < 4; i++)
		if (c == pairs[2 * i] && peek(l, 1) == pairs[2 * i + 1]) {
			w->sub = PMSL_M_EQ + i;
			w->len = 2;
			l->at += 2;
			return true;
		}
	if (c <= 0 || !strchr("(){}[],;:.=<>+-*/%", c))
		return false;
	w->sub = (unsigned)c;
	w->len = 1;
	l->at++;
	return true;
}

/* Makes one diagnostic for all adjacent characters that are not part of the language. */
static void skip_strange(struct pmsl_lexer *l)
{
	size_t begin = l->at;
	int c;

	do {
		l->at++;
		c = peek(l, 0);
	} while (c >= 0 && !begins_name(c) && !is_digit(c) &&
		 !strchr(" \t\r\n\f\"(){}[],;:.=<>+-*/%!", c));
	pmsl_error(l->d, (uint32_t)begin, (uint32_t)(l->at - begin),
		   "these characters have no meaning here");
}

void pmsl_lex(struct pmsl_lexer *l, struct pmsl_word *out)
{
	for (;;) {
		int c;

		skip_blanks(l);
		c = peek(l, 0);
		*out = (struct pmsl_word){ .at = (uint32_t)l->at };
		if (c < 0)
			return;
		if (begins_name(c)) {
			lex_name(l, out);
			return;
		}
		if (is_digit(c)) {
			lex_number(l, out);
			return;
		}
		if (c == '"') {
			lex_string(l, out);
			return;
		}
		if (lex_mark(l, out))
			return;
		skip_strange(l);
	}
}
