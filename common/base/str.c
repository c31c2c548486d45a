/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"

#include "common/base/limits.h"

#include <stdlib.h>
#include <string.h>

char *str_dup(const char *s)
{
	return s ? strdup(s) : NULL;
}

char *str_ndup(const char *s, size_t n)
{
	return s ? strndup(s, n) : NULL;
}

bool str_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool str_has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && str_eq(s + n - k, suffix);
}

bool str_copy(char *out, size_t size, const char *s)
{
	size_t n = 0;

	while (n + 1 < size && s[n]) {
		out[n] = s[n];
		n++;
	}
	if (!s[n]) {
		out[n] = '\0';
		return true;
	}
	/* the character at s[n] did not fit: removes a partial one at the end */
	while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
		n--;
	out[n] = '\0';
	return false;
}

size_t str_utf8_at(const uint8_t *p, size_t n, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len;
	uint32_t v;

	if (p[0] < 0x80) {
		*cp = p[0];
		return 1;
	}
	len = p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
	      : (p[0] & 0xf0) == 0xe0	   ? 3
	      : (p[0] & 0xe0) == 0xc0	   ? 2
					   : 0;
	if (!len || len > n)
		return 0;
	v = p[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (p[i] & 0x3f);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*cp = v;
	return len;
}

bool str_is_utf8(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint32_t cp;

	for (size_t i = 0, len; i < n; i += len) {
		len = str_utf8_at(b + i, n - i, &cp);
		if (!len)
			return false;
	}
	return true;
}

/* True for C0, DEL, C1, and for characters that change the order of text on a terminal. */
static bool is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || cp == 0x2028 || cp == 0x2029 ||
	       (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

bool str_is_name(const char *p, size_t n)
{
	const uint8_t *b = (const uint8_t *)p;
	uint32_t cp;

	if (!n || n > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0, len; i < n; i += len) {
		len = str_utf8_at(b + i, n - i, &cp);
		if (!len || is_control(cp))
			return false;
	}
	return true;
}

/* Writes the escaped form of the character at p to out[4]. *took is its length in the input. */
static size_t escape_one(char *out, const uint8_t *p, size_t n, size_t *took)
{
	static const char from[] = "\n\t\r\\\"", to[] = "ntr\\\"";
	const char *at = p[0] ? strchr(from, p[0]) : NULL;
	uint32_t cp;

	*took = 1;
	if (at) {
		out[0] = '\\';
		out[1] = to[at - from];
		return 2;
	}
	*took = str_utf8_at(p, n, &cp);
	if (*took && !is_control(cp)) {
		memcpy(out, p, *took);
		return *took;
	}
	*took = 1;
	out[0] = '\\';
	out[1] = 'x';
	out[2] = "0123456789abcdef"[p[0] >> 4];
	out[3] = "0123456789abcdef"[p[0] & 15];
	return 4;
}

char *str_escape(char *out, size_t size, const void *p, size_t n)
{
	const uint8_t *b = p;
	size_t at = 0, mark = 0; /* mark: the last position at which "..." still fits */
	size_t took;
	char one[4];

	for (size_t i = 0; i < n; i += took) {
		size_t len = escape_one(one, b + i, n - i, &took);

		if (at + len >= size) {
			at = size > 4 ? mark : at;
			if (size > 4) {
				memcpy(out + at, "...", 3);
				at += 3;
			}
			break;
		}
		memcpy(out + at, one, len);
		at += len;
		if (at + 3 < size)
			mark = at;
	}
	out[at] = '\0';
	return out;
}

char *str_show(char *out, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (n && (n >= size || !str_is_name(text, n)))
		return str_escape(out, size, text, n);
	str_copy(out, size, text);
	return out;
}

char *str_trim(char *s)
{
	static const char space[] = " \t\n\v\f\r";

	s += strspn(s, space);
	for (size_t n = strlen(s); n && strchr(space, s[n - 1]);)
		s[--n] = '\0';
	return s;
}

bool str_equal_ct(const void *a, const void *b, size_t n)
{
	const volatile uint8_t *x = a, *y = b;
	uint8_t differ = 0;

	for (size_t i = 0; i < n; i++)
		differ |= x[i] ^ y[i];
	return differ == 0;
}

void str_wipe(void *p, size_t n)
{
	explicit_bzero(p, n);
}

size_t str_split_tabs(char *line, char **field, size_t max)
{
	size_t n = 0;

	for (char *at = line; at;) {
		char *tab = strchr(at, '\t');

		if (n < max)
			field[n] = at;
		n++;
		if (tab)
			*tab++ = 0;
		at = tab;
	}
	return n;
}

const char *str_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t str_characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}
