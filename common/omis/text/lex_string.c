/* SPDX-License-Identifier: Apache-2.0 */
/* Strings and character constants with the escapes of C. */
#include "common/omis/text/lex.h"

#include "common/base/str.h"

#include <string.h>

struct unescape {
	struct lex *l;
	size_t at; /* offset of the '\' */
	uint32_t code;
	bool utf8; /* the code is a character, not a byte */
};

static int peek(const struct lex *l)
{
	return l->at < l->n ? (unsigned char)l->p[l->at] : -1;
}

/* Reads \123: one to three digits, of which the first one is there. */
static int octal(struct unescape *u)
{
	struct lex *l = u->l;

	u->code = 0;
	for (int i = 0; i < 3 && peek(l) >= '0' && peek(l) <= '7'; i++)
		u->code = u->code * 8 + (uint32_t)(l->p[l->at++] - '0');
	return u->code > 0xff ? lex_fail(l, u->at, "an octal escape beyond a byte") : 0;
}

/* Reads \x and all hexadecimal digits that follow. */
static int hex(struct unescape *u)
{
	struct lex *l = u->l;

	u->code = 0;
	if (str_hex_digit(peek(l)) < 0)
		return lex_fail(l, u->at, "\\x without a digit");
	for (; str_hex_digit(peek(l)) >= 0; l->at++) {
		u->code = u->code << 4 | (uint32_t)str_hex_digit(peek(l));
		if (u->code > 0xff)
			return lex_fail(l, u->at, "a hexadecimal escape beyond a byte");
	}
	return 0;
}

/* Reads \u1234 or \U00012345. */
static int universal(struct unescape *u, int digits)
{
	struct lex *l = u->l;

	u->code = 0;
	u->utf8 = true;
	for (; digits; digits--, l->at++) {
		if (str_hex_digit(peek(l)) < 0)
			return lex_fail(l, u->at, "too few digits in a character's number");
		u->code = u->code << 4 | (uint32_t)str_hex_digit(peek(l));
	}
	if (u->code > 0x10ffff || (u->code >= 0xd800 && u->code <= 0xdfff))
		return lex_fail(l, u->at, "no character has the number 0x%x", u->code);
	return 0;
}

/* Reads an escape; l->at is behind the '\'. */
static int escape(struct unescape *u)
{
	static const char names[] = "abfnrtv\\'\"?", codes[] = "\a\b\f\n\r\t\v\\'\"?";
	struct lex *l = u->l;
	int c = peek(l);

	u->utf8 = false;
	if (c >= '0' && c <= '7')
		return octal(u);
	l->at++;
	if (c == 'x')
		return hex(u);
	if (c == 'u' || c == 'U')
		return universal(u, c == 'u' ? 4 : 8);
	for (size_t i = 0; names[i]; i++) {
		if (c == names[i]) {
			u->code = (unsigned char)codes[i];
			return 0;
		}
	}
	return lex_fail(l, u->at, "an escape that C does not know");
}

static size_t put_utf8(char *out, uint32_t c)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[n] | c);
	return n;
}

/* Reads one character of a string, and writes its bytes to out (room for 4). */
static int take_char(struct lex *l, char *out, size_t *n)
{
	struct unescape u = { .l = l, .at = l->at };
	int rc;

	if (l->p[l->at] != '\\') {
		*out = l->p[l->at++];
		*n = 1;
		return 0;
	}
	l->at++;
	rc = escape(&u);
	if (rc)
		return rc;
	*n = u.utf8 ? put_utf8(out, u.code) : 1;
	if (!u.utf8)
		*out = (char)u.code;
	return 0;
}

/*
 * Returns the offset of the quote that ends the literal; n if the line has none. memchr() checks
 * first whether the text has any quote.
 */
static size_t find_end(const struct lex *l, char quote)
{
	if (l->at >= l->n || !memchr(l->p + l->at, quote, l->n - l->at))
		return l->n;
	for (size_t at = l->at; at < l->n; at++) {
		if (l->p[at] == quote)
			return at;
		if (l->p[at] == '\n' || l->p[at] == '\0')
			return l->n;
		at += l->p[at] == '\\';
	}
	return l->n;
}

int lex_string(struct lex *l, struct omis_value *v)
{
	size_t start = l->at++, end = find_end(l, '"'), n;
	char *out;
	int rc;

	if (end >= l->n)
		return lex_fail(l, start, "a string without an end");
	out = arena_alloc(l->arena, end - l->at + 1);
	if (!out)
		return lex_nomem(l);
	v->kind = OMIS_STRING;
	v->offset = (uint32_t)start;
	v->s.p = out;
	for (v->s.n = 0; l->at < end; v->s.n += n) {
		rc = take_char(l, out + v->s.n, &n);
		if (rc)
			return rc;
		if (!out[v->s.n])
			return lex_fail(l, start, "a 0 in a string (write it as a binary value)");
	}
	out[v->s.n] = '\0';
	l->at = end + 1;
	return 0;
}

int lex_char(struct lex *l, struct omis_value *v)
{
	size_t start = l->at++, end = find_end(l, '\''), n;
	char c[4];
	int rc;

	if (end >= l->n || end == l->at)
		return lex_fail(l, start, "a character without an end");
	rc = take_char(l, c, &n);
	if (rc)
		return rc;
	if (l->at != end || n != 1)
		return lex_fail(l, start, "more than one byte between the quotes");
	l->at = end + 1;
	v->kind = OMIS_INT;
	v->offset = (uint32_t)start;
	v->i = (unsigned char)c[0];
	return 0;
}
