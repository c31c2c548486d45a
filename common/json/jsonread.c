/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json/jsonread.h"

#include "common/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX 64 /* characters of a number; 17 digits and an exponent need 24 */

/* The tokens that are permitted next. */
enum state { WANT_VALUE, WANT_VALUE_OR_END, WANT_KEY, WANT_KEY_OR_END, WANT_MORE };

void jsonread_init(struct jsonread *r, jsonread_fill_fn fill, void *arg)
{
	*r = (struct jsonread){ .fill = fill, .arg = arg, .line_now = 1 };
	buf_init(&r->copy, JSONREAD_TEXT_MAX);
}

static int no_more(void *arg, const uint8_t **p, size_t *n, struct err *e)
{
	(void)arg;
	(void)p;
	(void)e;
	*n = 0;
	return 0;
}

void jsonread_init_bytes(struct jsonread *r, const void *p, size_t n)
{
	jsonread_init(r, no_more, NULL);
	r->at = p;
	r->line_at = (uintptr_t)p;
	r->end = n ? r->at + n : r->at;
}

void jsonread_done(struct jsonread *r)
{
	buf_done(&r->copy);
}

int jsonread_fail(const struct jsonread *r, struct err *e, enum err_code code, const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(e, code, "%s", text);
	if (e)
		err_at(e, r->line, r->col);
	return -(int)code;
}

const char *jsonread_token_name(int token)
{
	static const char *const names[] = {
		[JSONREAD_END] = "the end",	[JSONREAD_OBJECT] = "an object",
		[JSONREAD_OBJECT_END] = "'}'",	[JSONREAD_ARRAY] = "an array",
		[JSONREAD_ARRAY_END] = "']'",	[JSONREAD_KEY] = "a key",
		[JSONREAD_STRING] = "a string", [JSONREAD_NUMBER] = "a number",
		[JSONREAD_TRUE] = "true",	[JSONREAD_FALSE] = "false",
		[JSONREAD_NULL] = "null",
	};

	return token >= 0 && token <= JSONREAD_NULL ? names[token] : "?";
}

bool jsonread_is(const struct jsonread *r, const char *s)
{
	size_t n = strlen(s);

	return r->n == n && !memcmp(r->text, s, n);
}

/* --- bytes */

/* Returns 1 with *c, which is not consumed; 0 at the end of the input. */
static int peek(struct jsonread *r, uint8_t *c, struct err *e)
{
	uintptr_t before = (uintptr_t)r->at - r->line_at;
	size_t n = 0;
	const uint8_t *p = NULL;
	int rc;

	if (r->at == r->end) {
		if (r->has_ended)
			return 0;
		rc = r->fill(r->arg, &p, &n, e);
		if (rc)
			return rc;
		r->has_ended = !n;
		if (!n)
			return 0;
		r->at = p;
		r->end = p + n;
		r->line_at = (uintptr_t)p - before;
	}
	*c = *r->at;
	return 1;
}

static void mark(struct jsonread *r)
{
	r->line = r->line_now;
	r->col = (unsigned)((uintptr_t)r->at - r->line_at) + 1;
}

static int fail_here(struct jsonread *r, struct err *e, const char *text)
{
	mark(r);
	return jsonread_fail(r, e, ERR_PARSE, "%s", text);
}

/* Skips white space. Returns like peek(). */
static int peek_token(struct jsonread *r, uint8_t *c, struct err *e)
{
	int got;

	while ((got = peek(r, c, e)) == 1) {
		if (*c == '\n') {
			r->line_now++;
			r->line_at = (uintptr_t)(r->at + 1);
		} else if (*c != ' ' && *c != '\t' && *c != '\r') {
			break;
		}
		r->at++;
	}
	mark(r);
	return got;
}

static int need(struct jsonread *r, uint8_t *c, const char *where, struct err *e)
{
	int got = peek(r, c, e);

	if (got < 0)
		return got;
	return got ? 0 : fail_here(r, e, where);
}

/* --- strings */

static int read_hex(struct jsonread *r, uint32_t *out, struct err *e)
{
	*out = 0;
	for (int i = 0; i < 4; i++) {
		uint8_t c = 0;
		int rc = need(r, &c, "the string does not end", e), digit;

		if (rc)
			return rc;
		digit = str_hex_digit(c);
		if (digit < 0)
			return fail_here(r, e, "\\u needs four hexadecimal digits");
		*out = *out << 4 | (uint32_t)digit;
		r->at++;
	}
	return 0;
}

/* Reads the second half of a character beyond 16 bits. */
static int read_low(struct jsonread *r, uint32_t *out, struct err *e)
{
	uint32_t low;

	for (const char *s = "\\u"; *s; s++) {
		uint8_t c = 0;
		int rc = need(r, &c, "the string does not end", e);

		if (rc)
			return rc;
		if (c != (uint8_t)*s)
			return fail_here(r, e, "half of a surrogate pair");
		r->at++;
	}
	if (read_hex(r, &low, e))
		return -ERR_PARSE;
	if (low < 0xdc00 || low > 0xdfff)
		return fail_here(r, e, "half of a surrogate pair");
	*out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
	return 0;
}

static int read_escape(struct jsonread *r, struct err *e)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;
	uint32_t code;
	uint8_t c = 0;
	int rc = need(r, &c, "the string does not end", e);

	if (rc)
		return rc;
	found = c ? strchr(from, c) : NULL;
	if (!found && c != 'u')
		return fail_here(r, e, "an unknown escape");
	r->at++;
	if (found) {
		buf_putc(&r->copy, (uint8_t)to[found - from]);
		return 0;
	}
	rc = read_hex(r, &code, e);
	if (!rc && code >= 0xd800 && code <= 0xdbff)
		rc = read_low(r, &code, e);
	else if (!rc && code >= 0xdc00 && code <= 0xdfff)
		rc = fail_here(r, e, "half of a surrogate pair");
	if (!rc)
		buf_put_utf8(&r->copy, code);
	return rc;
}

/* Returns the end of the plain part: at a quote, a backslash or a control character. */
static const uint8_t *plain_end(const struct jsonread *r)
{
	const uint8_t *p = r->at;

	while (p < r->end && *p != '"' && *p != '\\' && *p >= 0x20)
		p++;
	return p;
}

static int finish_text(struct jsonread *r, struct err *e)
{
	if (r->copy.failed || r->n > JSONREAD_TEXT_MAX)
		return jsonread_fail(r, e, ERR_LIMIT, "a string of more than %u bytes",
				     JSONREAD_TEXT_MAX);
	return str_is_utf8(r->text, r->n)
		       ? 0
		       : jsonread_fail(r, e, ERR_PARSE, "a string that is not UTF-8");
}

/* Reads a string from its first quote. Copies it only if it is split or has escapes. */
static int read_string(struct jsonread *r, struct err *e)
{
	const uint8_t *end;
	uint8_t c = 0;
	int rc;

	r->at++;
	end = plain_end(r);
	if (end < r->end && *end == '"') {
		r->text = (const char *)r->at;
		r->n = (size_t)(end - r->at);
		r->at = end + 1;
		return finish_text(r, e);
	}
	buf_clear(&r->copy);
	for (;;) {
		rc = need(r, &c, "the string does not end", e);
		if (rc)
			return rc;
		end = plain_end(r);
		buf_put(&r->copy, r->at, (size_t)(end - r->at));
		r->at = end;
		if (end == r->end)
			continue;
		if (*end < 0x20)
			return fail_here(r, e, "a control character in a string");
		r->at++;
		if (*end == '"')
			break;
		rc = read_escape(r, e);
		if (rc)
			return rc;
	}
	r->text = buf_str(&r->copy);
	r->n = r->copy.n;
	return finish_text(r, e);
}

/* --- numbers and words */

static bool is_number_char(uint8_t c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static const char *digits(const char *s)
{
	while (*s >= '0' && *s <= '9')
		s++;
	return s;
}

static bool is_number(const char *s)
{
	const char *end;

	s += *s == '-';
	end = digits(s);
	if (end == s || (*s == '0' && end > s + 1))
		return false;
	s = end;
	if (*s == '.') {
		end = digits(++s);
		if (end == s)
			return false;
		s = end;
	}
	if (*s != 'e' && *s != 'E')
		return !*s;
	s++;
	s += *s == '-' || *s == '+';
	end = digits(s);
	return end > s && !*end;
}

/* Copies the number, so that it ends with a 0. */
static int read_number(struct jsonread *r, struct err *e)
{
	uint8_t c = 0;
	int got;

	buf_clear(&r->copy);
	while ((got = peek(r, &c, e)) == 1 && is_number_char(c)) {
		buf_putc(&r->copy, c);
		r->at++;
		if (r->copy.n > NUMBER_MAX)
			return jsonread_fail(r, e, ERR_LIMIT, "a number of more than %d characters",
					     NUMBER_MAX);
	}
	if (got < 0)
		return got;
	r->text = buf_str(&r->copy);
	r->n = r->copy.n;
	if (r->copy.failed)
		return err_nomem(e);
	return is_number(r->text) ? 0 : jsonread_fail(r, e, ERR_PARSE, "not a number");
}

static int read_word(struct jsonread *r, const char *word, int token, struct err *e)
{
	for (const char *s = word; *s; s++) {
		uint8_t c = 0;
		int got = peek(r, &c, e);

		if (got < 0)
			return got;
		if (!got || c != (uint8_t)*s)
			return jsonread_fail(r, e, ERR_PARSE, "not a value of JSON");
		r->at++;
	}
	return token;
}

int jsonread_i64(const struct jsonread *r, int64_t *out, struct err *e)
{
	if (!str_to_i64(r->text, INT64_MIN, INT64_MAX, out))
		return 0;
	return jsonread_fail(r, e, ERR_INVALID, "%.40s is not an integer of 64 bits", r->text);
}

int jsonread_u64(const struct jsonread *r, uint64_t *out, struct err *e)
{
	if (!str_to_u64(r->text, 0, UINT64_MAX, out))
		return 0;
	return jsonread_fail(r, e, ERR_INVALID, "%.40s is not an integer from 0 to 2^64 - 1",
			     r->text);
}

/* --- structure */

static int open(struct jsonread *r, bool is_object, struct err *e)
{
	if (r->depth == JSONREAD_DEPTH_MAX)
		return jsonread_fail(r, e, ERR_LIMIT, "more than %d levels", JSONREAD_DEPTH_MAX);
	r->is_object[r->depth++] = is_object;
	r->state = is_object ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
	r->at++;
	return is_object ? JSONREAD_OBJECT : JSONREAD_ARRAY;
}

static int shut(struct jsonread *r)
{
	bool is_object = r->is_object[--r->depth];

	r->state = r->depth ? WANT_MORE : WANT_VALUE;
	r->at++;
	return is_object ? JSONREAD_OBJECT_END : JSONREAD_ARRAY_END;
}

static int read_value(struct jsonread *r, uint8_t c, struct err *e)
{
	int rc;

	if (c == '{' || c == '[')
		return open(r, c == '{', e);
	r->state = r->depth ? WANT_MORE : WANT_VALUE;
	switch (c) {
	case '"':
		rc = read_string(r, e);
		return rc ? rc : JSONREAD_STRING;
	case 't':
		return read_word(r, "true", JSONREAD_TRUE, e);
	case 'f':
		return read_word(r, "false", JSONREAD_FALSE, e);
	case 'n':
		return read_word(r, "null", JSONREAD_NULL, e);
	default:
		if (!is_number_char(c))
			return jsonread_fail(r, e, ERR_PARSE, "a value is missing");
		rc = read_number(r, e);
		return rc ? rc : JSONREAD_NUMBER;
	}
}

static int read_key(struct jsonread *r, uint8_t c, struct err *e)
{
	unsigned line, col;
	int rc, got;

	if (c != '"')
		return jsonread_fail(r, e, ERR_PARSE, "a key in quotes is missing");
	rc = read_string(r, e);
	if (rc)
		return rc;
	if (r->text != buf_str(&r->copy)) {
		/* copies the key, because the bytes may move before the colon is found */
		buf_clear(&r->copy);
		if (buf_put(&r->copy, r->text, r->n))
			return err_nomem(e);
		r->text = buf_str(&r->copy);
	}
	line = r->line;
	col = r->col;
	got = peek_token(r, &c, e);
	if (got < 0)
		return got;
	if (!got || c != ':')
		return fail_here(r, e, "':' is missing behind a key");
	r->line = line;
	r->col = col;
	r->at++;
	r->state = WANT_VALUE;
	return JSONREAD_KEY;
}

int jsonread_next(struct jsonread *r, struct err *e)
{
	uint8_t c = 0;
	int got = peek_token(r, &c, e);
	bool is_end;

	if (got < 0)
		return got;
	if (!got)
		return r->depth || r->state != WANT_VALUE
			       ? fail_here(r, e, "the input ends inside of a value")
			       : JSONREAD_END;
	is_end = r->depth && c == (r->is_object[r->depth - 1] ? '}' : ']');
	if (is_end &&
	    (r->state == WANT_MORE || r->state == WANT_KEY_OR_END || r->state == WANT_VALUE_OR_END))
		return shut(r);
	if (r->state == WANT_MORE) {
		if (c != ',')
			return fail_here(r, e, "',' or an end is missing");
		r->at++;
		r->state = r->is_object[r->depth - 1] ? WANT_KEY : WANT_VALUE;
		got = peek_token(r, &c, e);
		if (got < 0)
			return got;
		if (!got)
			return fail_here(r, e, "the input ends inside of a value");
	}
	if (r->state == WANT_KEY || r->state == WANT_KEY_OR_END)
		return read_key(r, c, e);
	return read_value(r, c, e);
}

int jsonread_skip(struct jsonread *r, int token, struct err *e)
{
	unsigned depth = r->depth;

	if (token != JSONREAD_OBJECT && token != JSONREAD_ARRAY)
		return 0;
	while (r->depth >= depth) {
		int got = jsonread_next(r, e);

		if (got < 0)
			return got;
	}
	return 0;
}
