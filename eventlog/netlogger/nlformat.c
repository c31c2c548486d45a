/* SPDX-License-Identifier: Apache-2.0 */
/* Reads names and values by the formats of both generations. */
#include "common/base/limits.h"
#include "eventlog/netlogger/nlog.h"
#include "eventlog/text/evwords.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

void nlfields_clear(struct nlfields *f)
{
	f->n = f->nconst = 0;
	f->used = 0;
	f->has_failed = false;
}

static char *keep(struct nlfields *f, const char *s, size_t n)
{
	char *to = f->text + f->used;

	if (n >= sizeof(f->text) - f->used) {
		f->has_failed = true;
		return NULL;
	}
	memcpy(to, s, n);
	to[n] = '\0';
	f->used += n + 1;
	return to;
}

static void add(struct nlfields *f, const char *name, size_t n, struct evvalue v)
{
	if (f->n == EV_FIELDS_MAX || !n || n > NAME_MAX_BYTES) {
		f->has_failed = true;
		return;
	}
	if (v.kind == EV_STRING)
		v.s = keep(f, v.s, v.n);
	f->name[f->n] = keep(f, name, n);
	f->value[f->n] = v;
	f->n += !f->has_failed;
}

void nlfields_copy(struct nlfields *to, const struct nlfields *from)
{
	for (unsigned i = 0; i < from->n; i++)
		add(to, from->name[i], strlen(from->name[i]), from->value[i]);
}

/* --- printf: a value that is a single conversion has its kind; all other values are text */

#define SPEC_MAX_BYTES 29 /* characters of a conversion: flags, width, precision, size */

struct spec {
	char conversion, size; /* size: h, H (hh), l, L (ll and long double), z, j, t, 0 */
	/* bytes of a string, by its precision: memory behind them may be invalid */
	size_t text_max;
};

/* Reads from the point on, in the n bytes at s. Returns NLOG_TEXT_BYTES without a precision. */
static size_t read_precision(const char *s, size_t n)
{
	const char *point = memchr(s, '.', n);
	size_t precision = 0;

	if (!point)
		return NLOG_TEXT_BYTES;
	for (point++;
	     point < s + n && *point >= '0' && *point <= '9' && precision < NLOG_TEXT_BYTES;
	     point++)
		precision = precision * 10 + (size_t)(*point - '0');
	return precision < NLOG_TEXT_BYTES ? precision : NLOG_TEXT_BYTES;
}

/* Reads the conversion at s (after its %). Returns its length; 0: unknown. */
static size_t read_spec(const char *s, struct spec *out)
{
	size_t n = strspn(s, "-+ #0123456789.'"), from;

	*out = (struct spec){ .text_max = read_precision(s, n) };
	from = n;
	n += strspn(s + n, "hlLqjzt");
	if (n > from)
		out->size = n - from > 1     ? (s[from] == 'h' ? 'H' : 'L')
			    : s[from] == 'q' ? 'L'
					     : s[from];
	out->conversion = s[n];
	if (!s[n] || n > SPEC_MAX_BYTES || !strchr("diouxXcsfFeEgGaAp", s[n]))
		return 0;
	if (out->size && (s[n] == 's' || s[n] == 'c'))
		return 0; /* a wide character */
	return n + 1;
}

static int64_t take_integer(char size, bool is_signed, va_list *ap)
{
	switch (size) {
	case 'l':
		return is_signed ? va_arg(*ap, long) : (int64_t)va_arg(*ap, unsigned long);
	case 'L':
	case 'j':
		return va_arg(*ap, long long);
	case 'z':
		return (int64_t)va_arg(*ap, size_t);
	case 't':
		return va_arg(*ap, ptrdiff_t);
	default:
		return is_signed ? va_arg(*ap, int) : (int64_t)va_arg(*ap, unsigned);
	}
}

/*
 * Returns the argument as a value. A conversion without a kind here (%c, %p, %x) becomes text in
 * `text`.
 */
static struct evvalue take_argument(const struct spec *s, va_list *ap, char text[64])
{
	struct evvalue v = { .kind = EV_STRING, .s = text };

	if (strchr("diu", s->conversion)) {
		v.i64 = take_integer(s->size, s->conversion != 'u', ap);
		v.kind = EV_INT64;
		if (!s->size && s->conversion != 'u') {
			v.i32 = (int32_t)v.i64;
			v.kind = EV_INT32;
		}
	} else if (strchr("fFeEgGaA", s->conversion)) {
		v.kind = EV_DOUBLE;
		v.f64 = s->size == 'L' ? (double)va_arg(*ap, long double) : va_arg(*ap, double);
	} else if (s->conversion == 's') {
		v.s = va_arg(*ap, const char *);
		v.s = v.s ? v.s : "(null)";
		v.n = (uint32_t)strnlen(v.s, s->text_max);
	} else if (s->conversion == 'p') {
		v.n = (uint32_t)snprintf(text, 64, "%p", va_arg(*ap, void *));
	} else if (s->conversion == 'c') {
		text[0] = (char)va_arg(*ap, int);
		v.n = 1;
	} else {
		int64_t i = take_integer(s->size, false, ap);

		v.n = (uint32_t)snprintf(text, 64,
					 s->conversion == 'o'	? "%llo"
					 : s->conversion == 'x' ? "%llx"
								: "%llX",
					 (unsigned long long)i);
	}
	return v;
}

static void put_text(struct buf *b, const struct evvalue *v)
{
	if (v->kind == EV_STRING)
		buf_put(b, v->s, v->n);
	else
		evwords_put_number(b, v);
}

/* Reads the value after NAME=, up to the next space outside of quotes. */
static const char *read_value(struct nlfields *f, const char *name, size_t n, const char *s,
			      va_list *ap)
{
	struct buf b = BUF_INIT(NLOG_TEXT_BYTES);
	bool in_quotes = *s == '"', is_text = in_quotes;
	struct evvalue v = { 0 };
	unsigned parts = 0;
	char text[64];
	struct spec spec;

	for (s += in_quotes; *s && (in_quotes ? *s != '"' : *s != ' ' && *s != '\t' && *s != '\n');
	     parts++) {
		size_t len = ap && *s == '%' && s[1] != '%' ? read_spec(s + 1, &spec) : 0;

		if (len) {
			v = take_argument(&spec, ap, text);
			put_text(&b, &v);
			s += len + 1;
			continue;
		}
		/* the conversion is unknown, so further arguments cannot be found */
		f->has_failed |= ap && *s == '%' && s[1] != '%';
		s += ap && *s == '%' && s[1] == '%';
		buf_putc(&b, (uint8_t)*s);
		is_text = true;
		s += *s != 0;
	}
	f->has_failed |= b.failed;
	if (parts != 1 || is_text) {
		if (in_quotes || !is_text || parts != b.n)
			v = (struct evvalue){ .kind = EV_STRING,
					      .n = (uint32_t)b.n,
					      .s = buf_str(&b) };
		else
			evwords_infer(buf_str(&b), b.n, &v);
	}
	add(f, name, n, v);
	buf_done(&b);
	return s + (in_quotes && *s == '"');
}

void nlfields_printf(struct nlfields *f, const char *fmt, va_list *ap)
{
	const char *s = fmt ? fmt : "";

	while (!f->has_failed && *(s += strspn(s, " \t\n"))) {
		size_t n = strcspn(s, "= \t\n");

		if (s[n] != '=' || memchr(s, '%', n)) {
			f->has_failed = true;
			return;
		}
		s = read_value(f, s, n, s + n + 1, ap);
	}
}

/* --- formats of letters */

static bool take_letter(char letter, va_list *ap, struct evvalue *v)
{
	*v = (struct evvalue){ 0 };
	switch (letter) {
	case 'i':
		v->kind = EV_INT32;
		v->i32 = va_arg(*ap, int);
		return true;
	case 'l':
		v->kind = EV_INT64;
		v->i64 = va_arg(*ap, long long);
		return true;
	case 'd':
	case 'f':
		v->kind = letter == 'd' ? EV_DOUBLE : EV_FLOAT;
		letter == 'd' ? (void)(v->f64 = va_arg(*ap, double))
			      : (void)(v->f32 = (float)va_arg(*ap, double));
		return true;
	case 's':
		v->kind = EV_STRING;
		v->s = va_arg(*ap, const char *);
		v->s = v->s ? v->s : "";
		v->n = (uint32_t)strnlen(v->s, NLOG_TEXT_BYTES);
		return true;
	default:
		return false;
	}
}

void nlfields_letters(struct nlfields *f, const char *fmt, va_list *ap)
{
	const char *s = fmt ? fmt : "";

	while (!f->has_failed && *(s += strspn(s, " \t\n"))) {
		size_t n = strcspn(s, "=: \t\n");
		struct evvalue v;

		if ((s[n] != '=' && s[n] != ':') || !take_letter(s[n + 1], ap, &v)) {
			f->has_failed = true;
			return;
		}
		add(f, s, n, v);
		s += n + 2;
	}
}
