/* SPDX-License-Identifier: Apache-2.0 */
#include "common/omis/text/lex.h"

#include "common/base/limits.h"

#include <stdio.h>

void lex_init(struct lex *l, struct bytes text, struct arena *arena, size_t values, struct err *e)
{
	l->p = (const char *)text.p;
	l->n = text.n;
	l->at = 0;
	l->arena = arena;
	l->e = e;
	l->values_left = values;
	l->depth = 0;
	l->stack = l->first;
	l->top = 0;
	l->cap = LEX_STACK_FIRST;
}

static int fail(struct lex *l, enum err_code code, size_t offset, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));

static int fail(struct lex *l, enum err_code code, size_t offset, const char *fmt, va_list ap)
{
	char words[ERR_TEXT_BYTES - 24]; /* the offset is appended */

	vsnprintf(words, sizeof(words), fmt, ap);
	err_set(l->e, code, "%s at offset %zu", words, offset);
	err_at(l->e, 0, (unsigned)offset + 1);
	return -(int)code;
}

int lex_fail(struct lex *l, size_t offset, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = fail(l, ERR_PARSE, offset, fmt, ap);
	va_end(ap);
	return rc;
}

int lex_limit(struct lex *l, size_t offset, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = fail(l, ERR_LIMIT, offset, fmt, ap);
	va_end(ap);
	return rc;
}

int lex_nomem(struct lex *l)
{
	return err_nomem(l->e);
}

int lex_expected(struct lex *l, const char *what)
{
	int c = lex_next(l);

	if (c < 0)
		return lex_fail(l, l->at, "expected %s, found the end", what);
	if (c < 0x20 || c > 0x7e)
		return lex_fail(l, l->at, "expected %s, found byte 0x%02x", what, (unsigned)c);
	return lex_fail(l, l->at, "expected %s, found '%c'", what, c);
}

void lex_blanks(struct lex *l)
{
	while (l->at < l->n) {
		char c = l->p[l->at];

		if (c != ' ' && !(c >= '\t' && c <= '\r'))
			return;
		l->at++;
	}
}

bool lex_is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool lex_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

int lex_word(struct lex *l, const char **p, size_t *n)
{
	size_t at = l->at;

	if (at < l->n && lex_is_letter(l->p[at]))
		while (at < l->n && (lex_is_letter(l->p[at]) || lex_is_digit(l->p[at])) &&
		       at - l->at <= NAME_MAX_BYTES)
			at++;
	if (at - l->at > NAME_MAX_BYTES)
		return lex_limit(l, l->at, "a name of more than %d characters", NAME_MAX_BYTES);
	*p = l->p + l->at;
	*n = at - l->at;
	l->at = at;
	return 0;
}
