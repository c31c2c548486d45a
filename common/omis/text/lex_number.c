/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as in C, and binary values, which begin with a number. */
#include "common/base/str.h"
#include "common/base/array.h"
#include "common/omis/text/lex.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A double never needs more; of a megabyte of digits, no more are read. */
#define NUMBER_MAX 128

struct number {
	char text[NUMBER_MAX + 1]; /* with its sign, and a 0 at the end */
	size_t n;
	size_t offset;
	bool negative;
};

static bool is_hex_prefix(const char *s)
{
	return s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
}

/* A sign is part of a number at its start, and behind the letter of an exponent. */
static bool takes_sign(const struct number *num, size_t start)
{
	char last = num->text[num->n - 1];

	if (is_hex_prefix(num->text + start))
		return last == 'p' || last == 'P';
	return last == 'e' || last == 'E';
}

/* Reads a number like C's preprocessing numbers: as long as possible, and checked afterwards. */
static int scan(struct lex *l, struct number *num)
{
	size_t start;
	char c;

	num->offset = l->at;
	num->n = 0;
	num->negative = l->p[l->at] == '-';
	if (num->negative || l->p[l->at] == '+')
		num->text[num->n++] = l->p[l->at++];
	start = num->n;
	num->text[start] = num->text[start + 1] = '\0';
	for (; l->at < l->n; l->at++) {
		c = l->p[l->at];
		if (!lex_is_letter(c) && !lex_is_digit(c) && c != '.' &&
		    !((c == '+' || c == '-') && num->n > start && takes_sign(num, start)))
			break;
		if (num->n == NUMBER_MAX)
			return lex_fail(l, l->at, "a number of more than %d characters",
					NUMBER_MAX);
		num->text[num->n++] = c;
	}
	num->text[num->n] = '\0';
	return 0;
}

static int bad(struct lex *l, const struct number *num)
{
	return lex_fail(l, num->offset, "'%.40s' is not a number", num->text);
}

static int too_large(struct lex *l, const struct number *num)
{
	return lex_fail(l, num->offset, "%.40s is too large", num->text);
}

/* True for u l ul lu ll ull llu in either case, which have no effect. */
static bool is_int_suffix(const char *s)
{
	static const char *const known[] = { "", "u", "l", "ul", "lu", "ll", "ull", "llu" };
	char low[4];
	size_t n = strlen(s);

	if (n >= sizeof(low))
		return false;
	for (size_t i = 0; i <= n; i++)
		low[i] = s[i] == 'U' || s[i] == 'L' ? (char)(s[i] - 'A' + 'a') : s[i];
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(low, known[i]))
			return true;
	return false;
}

static int to_int(struct lex *l, const struct number *num, const char *s, struct omis_value *v)
{
	unsigned base = 10;
	uint64_t magnitude = 0;
	const char *first;
	bool over = false;

	if (is_hex_prefix(s)) {
		base = 16;
		s += 2;
	} else if (s[0] == '0') {
		base = 8;
	}
	for (first = s; str_hex_digit(*s) >= 0 && (unsigned)str_hex_digit(*s) < base; s++)
		over |= __builtin_mul_overflow(magnitude, base, &magnitude) ||
			__builtin_add_overflow(magnitude, (unsigned)str_hex_digit(*s), &magnitude);
	if (s == first || !is_int_suffix(s))
		return bad(l, num);
	if (over || magnitude > (uint64_t)INT64_MAX + num->negative)
		return too_large(l, num);
	v->kind = OMIS_INT;
	v->i = num->negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return 0;
}

/*
 * Sixteen significant digits have 64 bits, so that converting them rounds once. More digits are
 * refused.
 */
static bool hex_mantissa(const char **s, uint64_t *mantissa, int *shift)
{
	unsigned digits = 0;
	bool point = false, any = false;

	for (*mantissa = 0, *shift = 0;; (*s)++) {
		if (**s == '.' && !point) {
			point = true;
			continue;
		}
		if (str_hex_digit(**s) < 0)
			return any;
		any = true;
		digits += digits || **s != '0';
		if (digits > 16)
			return false;
		*mantissa = *mantissa << 4 | (unsigned)str_hex_digit(**s);
		*shift -= point ? 4 : 0;
	}
}

static int to_hex_float(struct lex *l, const struct number *num, const char *s,
			struct omis_value *v)
{
	uint64_t mantissa;
	int64_t exponent;
	int shift;
	double f;

	s += 2;
	if (!hex_mantissa(&s, &mantissa, &shift) || (*s != 'p' && *s != 'P'))
		return bad(l, num);
	s++;
	s += *s == '+';
	if (str_to_i64(s, -5000, 5000, &exponent))
		return bad(l, num);
	f = ldexp((double)mantissa, (int)exponent + shift);
	if (!isfinite(f))
		return too_large(l, num);
	v->kind = OMIS_FLOAT;
	v->f = num->negative ? -f : f;
	return 0;
}

static int to_float(struct lex *l, struct number *num, struct omis_value *v)
{
	char *last = &num->text[num->n - 1];
	double f;
	int rc;

	if (strchr("fFlL", *last) && num->n > 1)
		*last = '\0';
	rc = str_to_double(num->text, -DBL_MAX, DBL_MAX, &f);
	if (rc == -ERR_NOMEM)
		return lex_nomem(l);
	if (rc && strspn(num->text, "+-.0123456789eE") == strlen(num->text) &&
	    strpbrk(num->text, "eE") && lex_is_digit(num->text[strlen(num->text) - 1]))
		return lex_fail(l, num->offset, "%.40s is not a number or too large", num->text);
	if (rc)
		return bad(l, num);
	v->kind = OMIS_FLOAT;
	v->f = f;
	return 0;
}

/* Reads '#' and the bytes behind it. */
static int to_binary(struct lex *l, const struct number *num, struct omis_value *v)
{
	uint64_t n;

	if (str_to_u64(num->text, 0, UINT32_MAX, &n))
		return lex_fail(l, num->offset, "'%.40s' is not a length of a binary value",
				num->text);
	l->at++;
	if (n > l->n - l->at)
		return lex_fail(l, num->offset, "a binary value of %llu bytes in the last %zu",
				(unsigned long long)n, l->n - l->at);
	v->kind = OMIS_BINARY;
	v->s.n = (size_t)n;
	v->s.p = arena_copy(l->arena, l->p + l->at, v->s.n);
	if (!v->s.p)
		return lex_nomem(l);
	l->at += v->s.n;
	return 0;
}

int lex_number(struct lex *l, struct omis_value *v)
{
	struct number num;
	const char *s;
	int rc;

	v->offset = (uint32_t)l->at;
	rc = scan(l, &num);
	if (rc)
		return rc;
	s = num.text + (num.text[0] == '-' || num.text[0] == '+');
	if (l->at < l->n && l->p[l->at] == '#')
		return to_binary(l, &num, v);
	if (str_eq(s, "inf")) {
		v->kind = OMIS_FLOAT;
		v->f = num.negative ? -INFINITY : INFINITY;
		return 0;
	}
	if (is_hex_prefix(s))
		return strpbrk(s, ".pP") ? to_hex_float(l, &num, s, v) : to_int(l, &num, s, v);
	return strpbrk(s, ".eE") ? to_float(l, &num, v) : to_int(l, &num, s, v);
}
