/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growable bytes with a hard cap. Failure is sticky: after the first append that failed (memory or
 * cap) nothing more is added. A writer may append many times and test `failed` once.
 */
#ifndef COMMON_BASE_BUF_H
#define COMMON_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The members may be read. p[n] is 0 if p is not NULL; n <= max, n < cap. */
struct buf {
	uint8_t *p; /* owned; NULL until the first append */
	size_t n, cap;
	size_t max; /* largest n */
	bool failed;
};

/* Bytes that belong to another object. */
struct bytes {
	const uint8_t *p; /* NULL only when n is 0 */
	size_t n;
};

static inline struct bytes bytes_at(const void *p, size_t n)
{
	return (struct bytes){ p, n };
}

/* Valid until the buffer changes. */
static inline struct bytes buf_bytes(const struct buf *b)
{
	return (struct bytes){ b->p, b->n };
}

#define BUF_INIT(limit) ((struct buf){ .max = (limit) })

void buf_init(struct buf *b, size_t max);

/* Frees the memory. The buffer is as after buf_init() with the same cap. */
void buf_done(struct buf *b);

/* Empties the buffer, keeps its memory, and clears its failure. */
void buf_clear(struct buf *b);

/*
 * Appends n bytes. Fails with ERR_NOMEM or ERR_LIMIT, adds nothing then, and sets `failed`. p may
 * point into the buffer.
 */
int buf_put(struct buf *b, const void *p, size_t n);
int buf_putc(struct buf *b, uint8_t c);
int buf_puts(struct buf *b, const char *s);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Append a number in little-endian order with a fixed width. */
int buf_put_u16le(struct buf *b, uint16_t v);
int buf_put_u32le(struct buf *b, uint32_t v);
int buf_put_u64le(struct buf *b, uint64_t v);
int buf_put_doublele(struct buf *b, double v);

/* Appends a code point, at most 0x10ffff, as UTF-8. */
int buf_put_utf8(struct buf *b, uint32_t c);

/* Appends a base-128 number as in protobuf, with at most ten bytes. */
int buf_put_varint(struct buf *b, uint64_t v);

/* Reserves n more bytes: the caller may then write p + n .. and increase `n`. */
int buf_reserve(struct buf *b, size_t n);

/*
 * Returns the bytes, which the caller owns (free()), and empties the buffer. Never NULL on success,
 * terminated by a 0 that *n does not count. Returns NULL if the buffer has failed or no memory is
 * left; then it keeps its bytes. n may be NULL.
 */
uint8_t *buf_take(struct buf *b, size_t *n);

/* Removes the first n bytes, or all if there are fewer. O(n) in the remaining bytes. */
void buf_drop_front(struct buf *b, size_t n);

/* Returns the bytes as a string: "" if empty. Valid until the next change. */
const char *buf_str(const struct buf *b);

#endif
