/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion between numbers and text. The C library's parsers accept leading space and, for
 * doubles, the decimal point of the locale.
 */
#include "common/base/str.h"

#include "common/base/err.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parses decimal digits up to the end of s, at least one. */
static int parse_digits(const char *s, uint64_t *out)
{
	uint64_t v = 0;

	if (!*s)
		return -ERR_INVALID;
	for (; *s; s++) {
		if (!is_digit(*s) || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -ERR_INVALID;
	}
	*out = v;
	return 0;
}

int str_to_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v;

	if (!s || parse_digits(s, &v) || v < min || v > max)
		return -ERR_INVALID;
	*out = v;
	return 0;
}

int str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out)
{
	bool negative = s && *s == '-';
	uint64_t magnitude;
	int64_t v;

	if (!s || parse_digits(s + negative, &magnitude) ||
	    magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
		return -ERR_INVALID;
	v = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	if (v < min || v > max)
		return -ERR_INVALID;
	*out = v;
	return 0;
}

/* True for decimal numbers only: strtod() also accepts hexadecimal numbers, inf and nan. */
static bool has_decimal_form(const char *s)
{
	size_t digits = 0;

	s += *s == '-' || *s == '+';
	for (; is_digit(*s); s++)
		digits++;
	if (*s == '.')
		for (s++; is_digit(*s); s++)
			digits++;
	if (!digits)
		return false;
	if (*s != 'e' && *s != 'E')
		return !*s;
	s++;
	s += *s == '-' || *s == '+';
	if (!is_digit(*s))
		return false;
	while (is_digit(*s))
		s++;
	return !*s;
}

int str_to_double(const char *s, double min, double max, double *out)
{
	locale_t c_locale;
	double v;
	char *end;

	if (!s || !has_decimal_form(s))
		return -ERR_INVALID;
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return -ERR_NOMEM;
	v = strtod_l(s, &end, c_locale);
	freelocale(c_locale);
	if (*end || !isfinite(v) || v < min || v > max)
		return -ERR_INVALID;
	*out = v;
	return 0;
}

int str_hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int str_to_hex64(const char *s, uint64_t *out)
{
	uint64_t v = 0;
	size_t n = s ? strnlen(s, 17) : 0;

	if (n < 1 || n > 16)
		return -ERR_INVALID;
	for (; *s; s++) {
		int d = str_hex_digit(*s);

		if (d < 0)
			return -ERR_INVALID;
		v = v << 4 | (uint64_t)d;
	}
	*out = v;
	return 0;
}

void str_hex(char *out, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++) {
		*out++ = "0123456789abcdef"[b[i] >> 4];
		*out++ = "0123456789abcdef"[b[i] & 15];
	}
	*out = '\0';
}

int str_from_hex(void *out, size_t n, const char *s)
{
	uint8_t *b = out;

	if (!s || strnlen(s, 2 * n + 1) != 2 * n)
		return -ERR_INVALID;
	for (size_t i = 0; i < 2 * n; i++)
		if (str_hex_digit(s[i]) < 0)
			return -ERR_INVALID;
	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)(str_hex_digit(s[2 * i]) << 4 | str_hex_digit(s[2 * i + 1]));
	return 0;
}

static const char base32_alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

void str_base32(char *out, const void *p, size_t n)
{
	const uint8_t *b = p;
	unsigned bits = 0, held = 0;

	for (size_t i = 0; i < n; i++) {
		held = held << 8 | b[i];
		for (bits += 8; bits >= 5; bits -= 5)
			*out++ = base32_alphabet[held >> (bits - 5) & 31];
		held &= 0xff;
	}
	if (bits)
		*out++ = base32_alphabet[held << (5 - bits) & 31];
	*out = '\0';
}

static int base32_digit(char c)
{
	const char *at;

	if (c >= 'A' && c <= 'Z')
		c = (char)(c - 'A' + 'a');
	if (c == 'i' || c == 'l')
		c = '1';
	if (c == 'o')
		c = '0';
	at = c ? strchr(base32_alphabet, c) : NULL;
	return at ? (int)(at - base32_alphabet) : -1;
}

int str_from_base32(void *out, size_t n, const char *s)
{
	uint8_t *b = out;
	size_t len = STR_BASE32_LEN(n);
	unsigned bits = 0, held = 0;

	if (!s || strnlen(s, len + 1) != len)
		return -ERR_INVALID;
	for (size_t i = 0; i < len; i++)
		if (base32_digit(s[i]) < 0)
			return -ERR_INVALID;
	if (len && base32_digit(s[len - 1]) & ((1 << (len * 5 - n * 8)) - 1))
		return -ERR_INVALID;
	for (size_t i = 0; i < len; i++) {
		held = (held << 5 | (unsigned)base32_digit(s[i])) & 0xfff;
		bits += 5;
		if (bits >= 8) {
			bits -= 8;
			*b++ = (uint8_t)(held >> bits);
		}
	}
	return 0;
}

/* Replaces the decimal point of the locale, which a program may have changed by setlocale(). */
static void use_point(char *text)
{
	char *to = text;
	bool in_run = false;

	for (const char *from = text; *from; from++) {
		bool is_other = !strchr("0123456789+-e.", *from);

		if (!is_other)
			*to++ = *from;
		else if (!in_run)
			*to++ = '.';
		in_run = is_other;
	}
	*to = '\0';
}

static char *from_not_finite(char *out, double v)
{
	str_copy(out, STR_DOUBLE_BYTES, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
	return out;
}

/*
 * Writes thousandths below 100,000 without the C library, which takes a hundred times as long. Most
 * measured values have few digits. The text is the same.
 */
static bool from_thousandths(char *out, double v, bool is_exact)
{
	int64_t k = (int64_t)(v * 1000 + (v < 0 ? -0.5 : 0.5));
	uint64_t whole = (uint64_t)(k < 0 ? -k : k) / 1000;
	unsigned part = (unsigned)((k < 0 ? -k : k) % 1000), digits = 3;
	char text[8], *to = text + sizeof(text);

	if (!is_exact || !k)
		return false;
	do {
		*--to = (char)('0' + whole % 10);
	} while (whole /= 10);
	if (k < 0)
		*out++ = '-';
	memcpy(out, to, (size_t)(text + sizeof(text) - to));
	out += text + sizeof(text) - to;
	while (part && part % 10 == 0) {
		part /= 10;
		digits--;
	}
	if (part) {
		*out = '.';
		for (unsigned i = digits; i > 0; part /= 10)
			out[i--] = (char)('0' + part % 10);
		out += digits + 1;
	}
	*out = '\0';
	return true;
}

/* Below this, fewer digits do not read back: a double has 15 significant digits, a float 6. */
#define FEW_OF_DOUBLE 1e5
#define FEW_OF_FLOAT 1e3

static bool is_few(double v, double limit)
{
	return v > -limit && v < limit;
}

/* Returns the thousandth that is nearest to v. */
static double nearest(double v)
{
	return (double)(int64_t)(v * 1000 + (v < 0 ? -0.5 : 0.5)) / 1000;
}

char *str_from_double(char *out, double v)
{
	int digits = 15;

	if (!isfinite(v))
		return from_not_finite(out, v);
	if (is_few(v, FEW_OF_DOUBLE) && from_thousandths(out, v, nearest(v) == v))
		return out;
	do {
		snprintf(out, STR_DOUBLE_BYTES, "%.*g", digits, v);
	} while (digits++ < 17 && strtod(out, NULL) != v);
	use_point(out);
	return out;
}

char *str_from_float(char *out, float v)
{
	int digits = 6;

	if (!isfinite(v))
		return from_not_finite(out, (double)v);
	if (is_few((double)v, FEW_OF_FLOAT) &&
	    from_thousandths(out, (double)v, (float)nearest((double)v) == v))
		return out;
	do {
		snprintf(out, STR_DOUBLE_BYTES, "%.*g", digits, (double)v);
	} while (digits++ < 9 && strtof(out, NULL) != v);
	use_point(out);
	return out;
}
