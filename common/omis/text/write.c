/* SPDX-License-Identifier: Apache-2.0 */
/* Writes values and requests in their normal form. */
#include "common/base/str.h"
#include "common/omis/text/request.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void separate(struct omis_writer *w)
{
	if (w->comma)
		buf_putc(w->b, ',');
	w->comma = true;
}

static void put_int(struct buf *b, int64_t v)
{
	char text[20], *end = text + sizeof(text), *at = end; /* -2^63 has 20 characters */
	uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (v < 0)
		*--at = '-';
	buf_put(b, at, (size_t)(end - at));
}

void omis_write_int(struct omis_writer *w, int64_t v)
{
	separate(w);
	put_int(w->b, v);
}

void omis_write_ints(struct omis_writer *w, const int64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		omis_write_int(w, v[i]);
}

/* Uses the first precision that reads back. Below DBL_MIN fewer digits than 15 may suffice. */
static void shortest(char *out, size_t size, double v)
{
	for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
		snprintf(out, size, "%.*g", digits, v);
		if (strtod(out, NULL) == v)
			return;
	}
}

/*
 * Writes digits with a point instead of the locale's. A number without point and exponent gets
 * ".0".
 */
static void put_digits(struct buf *b, const char *s)
{
	bool is_float = false;

	while (*s) {
		size_t n = strspn(s, "0123456789+-e");

		is_float |= memchr(s, 'e', n) != NULL;
		buf_put(b, s, n);
		s += n;
		n = strcspn(s, "0123456789+-e");
		if (n) {
			buf_putc(b, '.');
			is_float = true;
		}
		s += n;
	}
	if (!is_float)
		buf_puts(b, ".0");
}

/* True if the shortest form has no exponent, as for most numbers. */
static bool is_whole(double v)
{
	return fabs(v) < 1e15 && v == trunc(v) && !(v == 0 && signbit(v));
}

void omis_write_float(struct omis_writer *w, double v)
{
	char text[64];

	separate(w);
	if (is_whole(v)) {
		put_int(w->b, (int64_t)v);
		buf_puts(w->b, ".0");
		return;
	}
	if (isnan(v)) {
		buf_puts(w->b, "nan");
	} else if (isinf(v)) {
		buf_puts(w->b, v < 0 ? "-inf" : "inf");
	} else {
		shortest(text, sizeof(text), v);
		put_digits(w->b, text);
	}
}

/* Returns the length of the character at p if it needs no escape; otherwise 0. */
static size_t plain_char(const unsigned char *p, size_t n)
{
	size_t len = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

	if (len == 1)
		return *p >= 0x20 && *p != 0x7f && *p != '"' && *p != '\\';
	/* C1 controls are 0xc2 0x80 .. 0xc2 0x9f. */
	if (len > n || !str_is_utf8(p, len) || (p[0] == 0xc2 && p[1] < 0xa0))
		return 0;
	return len;
}

static void put_escape(struct buf *b, unsigned char c)
{
	static const char codes[] = "\n\t\r\"\\", names[] = "ntr\"\\";
	const char *at = c ? strchr(codes, c) : NULL;

	if (at)
		buf_printf(b, "\\%c", names[at - codes]);
	else
		buf_printf(b, "\\%03o", c);
}

void omis_write_string_n(struct omis_writer *w, const void *p, size_t n)
{
	const unsigned char *s = p;
	size_t at = 0, start = 0, len;

	n = n ? strnlen(p, n) : 0;
	separate(w);
	buf_putc(w->b, '"');
	while (at < n) {
		len = plain_char(s + at, n - at);
		if (len) {
			at += len;
			continue;
		}
		buf_put(w->b, s + start, at - start);
		put_escape(w->b, s[at]);
		start = ++at;
	}
	if (n > start)
		buf_put(w->b, s + start, n - start);
	buf_putc(w->b, '"');
}

void omis_write_string(struct omis_writer *w, const char *s)
{
	omis_write_string_n(w, s, strlen(s));
}

void omis_write_token(struct omis_writer *w, const char *token)
{
	separate(w);
	buf_puts(w->b, token);
}

void omis_write_binary(struct omis_writer *w, const void *p, size_t n)
{
	separate(w);
	buf_printf(w->b, "%zu#", n);
	if (n)
		buf_put(w->b, p, n);
}

void omis_write_ecp(struct omis_writer *w, const char *name)
{
	separate(w);
	buf_putc(w->b, '$');
	buf_puts(w->b, name);
}

void omis_write_list(struct omis_writer *w)
{
	separate(w);
	buf_putc(w->b, '[');
	w->comma = false;
}

void omis_write_list_end(struct omis_writer *w)
{
	buf_putc(w->b, ']');
	w->comma = true;
}

void omis_write_value(struct omis_writer *w, const struct omis_value *v)
{
	switch (v->kind) {
	case OMIS_INT:
		omis_write_int(w, v->i);
		break;
	case OMIS_FLOAT:
		omis_write_float(w, v->f);
		break;
	case OMIS_STRING:
		omis_write_string_n(w, v->s.p, v->s.n);
		break;
	case OMIS_TOKEN:
		omis_write_token(w, v->s.p);
		break;
	case OMIS_BINARY:
		omis_write_binary(w, v->s.p, v->s.n);
		break;
	case OMIS_ECP:
		omis_write_ecp(w, v->s.p);
		break;
	case OMIS_LIST:
		omis_write_list(w);
		for (size_t i = 0; i < v->list.n; i++)
			omis_write_value(w, &v->list.v[i]);
		omis_write_list_end(w);
		break;
	}
}

void omis_write_pair(struct omis_writer *w, const char *name, int64_t v)
{
	omis_write_list(w);
	omis_write_string(w, name);
	omis_write_int(w, v);
	omis_write_list_end(w);
}

void omis_print_value(struct buf *b, const struct omis_value *v)
{
	struct omis_writer w = OMIS_WRITER(b);

	omis_write_value(&w, v);
}

void omis_print_call(struct buf *b, const struct omis_call *c)
{
	struct omis_writer w = OMIS_WRITER(b);

	buf_puts(b, c->name);
	buf_putc(b, '(');
	for (size_t i = 0; i < c->nparam; i++)
		omis_write_value(&w, &c->param[i]);
	buf_putc(b, ')');
}

void omis_print_request(struct buf *b, const struct omis_request *r)
{
	if (r->event)
		omis_print_call(b, r->event);
	buf_puts(b, r->locked ? ":{" : ":");
	for (size_t i = 0; i < r->naction; i++) {
		if (i)
			buf_puts(b, r->action[i].barrier ? " ; " : " ");
		omis_print_call(b, &r->action[i]);
	}
	if (r->locked)
		buf_putc(b, '}');
}
