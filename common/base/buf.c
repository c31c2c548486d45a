/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/buf.h"

#include "common/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAP_FIRST 64

void buf_init(struct buf *b, size_t max)
{
	*b = BUF_INIT(max);
}

void buf_done(struct buf *b)
{
	free(b->p);
	buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = false;
	if (b->p)
		b->p[0] = 0;
}

static int fail(struct buf *b, enum err_code code)
{
	b->failed = true;
	return -(int)code;
}

int buf_reserve(struct buf *b, size_t n)
{
	size_t cap;
	uint8_t *p;

	if (b->failed)
		return -ERR_LIMIT;
	if (n > b->max || b->n > b->max - n || b->max == SIZE_MAX)
		return fail(b, ERR_LIMIT);
	if (b->n + n < b->cap)
		return 0;
	cap = b->cap > SIZE_MAX / 2 ? SIZE_MAX : b->cap * 2;
	if (cap < CAP_FIRST)
		cap = CAP_FIRST;
	if (cap > b->max + 1)
		cap = b->max + 1;
	if (cap < b->n + n + 1)
		cap = b->n + n + 1;
	p = realloc(b->p, cap);
	if (!p)
		return fail(b, ERR_NOMEM);
	p[b->n] = 0;
	b->p = p;
	b->cap = cap;
	return 0;
}

int buf_put(struct buf *b, const void *p, size_t n)
{
	/* The source may be part of the buffer itself, which may move when it grows. */
	bool inside = b->p && (const uint8_t *)p >= b->p && (const uint8_t *)p < b->p + b->cap;
	size_t at = inside ? (size_t)((const uint8_t *)p - b->p) : 0;
	int rc = buf_reserve(b, n);

	if (rc)
		return rc;
	if (n)
		memmove(b->p + b->n, inside ? b->p + at : p, n);
	b->n += n;
	b->p[b->n] = 0;
	return 0;
}

int buf_putc(struct buf *b, uint8_t c)
{
	/* a fast path: a third of the calls that make text put one character */
	if (!b->failed && b->n + 1 < b->cap) {
		b->p[b->n++] = c;
		b->p[b->n] = 0;
		return 0;
	}
	return buf_put(b, &c, 1);
}

int buf_puts(struct buf *b, const char *s)
{
	return buf_put(b, s, strlen(s));
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = buf_vprintf(b, fmt, ap);
	va_end(ap);
	return rc;
}

int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n, rc;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return fail(b, ERR_LIMIT);
	rc = buf_reserve(b, (size_t)n);
	if (rc)
		return rc;
	vsnprintf((char *)b->p + b->n, (size_t)n + 1, fmt, ap);
	b->n += (size_t)n;
	return 0;
}

static int put_le(struct buf *b, uint64_t v, size_t n)
{
	uint8_t raw[8];

	for (size_t i = 0; i < n; i++)
		raw[i] = (uint8_t)(v >> (8 * i));
	return buf_put(b, raw, n);
}

int buf_put_u16le(struct buf *b, uint16_t v)
{
	return put_le(b, v, 2);
}

int buf_put_u32le(struct buf *b, uint32_t v)
{
	return put_le(b, v, 4);
}

int buf_put_u64le(struct buf *b, uint64_t v)
{
	return put_le(b, v, 8);
}

int buf_put_doublele(struct buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return buf_put_u64le(b, bits);
}

int buf_put_varint(struct buf *b, uint64_t v)
{
	uint8_t raw[10];
	size_t n = 0;

	while (v >= 0x80) {
		raw[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	raw[n++] = (uint8_t)v;
	return buf_put(b, raw, n);
}

int buf_put_utf8(struct buf *b, uint32_t c)
{
	static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	uint8_t raw[4];

	for (unsigned i = n; i-- > 1; c >>= 6)
		raw[i] = (uint8_t)(0x80 | (c & 0x3f));
	raw[0] = (uint8_t)(lead[n] | c);
	return buf_put(b, raw, n);
}

uint8_t *buf_take(struct buf *b, size_t *n)
{
	uint8_t *p;

	if (b->failed || (!b->p && buf_reserve(b, 0)))
		return NULL;
	p = b->p;
	if (n)
		*n = b->n;
	buf_init(b, b->max);
	return p;
}

void buf_drop_front(struct buf *b, size_t n)
{
	if (!b->p || !n)
		return;
	if (n > b->n)
		n = b->n;
	b->n -= n;
	memmove(b->p, b->p + n, b->n + 1);
}

const char *buf_str(const struct buf *b)
{
	return b->p ? (const char *)b->p : "";
}
