/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/frame.h"

#include "common/base/limits.h"

#define LENGTH_BYTES 4
#define KEEP_BYTES (64 * 1024) /* memory that a splitter without data may keep */

static uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void frame_in_init(struct frame_in *f, size_t max)
{
	*f = (struct frame_in){ .max = max };
	/* The size of the buffer is bounded by one frame and the size of the caller's reads. */
	buf_init(&f->buf, SIZE_MAX / 4);
}

void frame_in_done(struct frame_in *f)
{
	buf_done(&f->buf);
	f->at = 0;
}

void frame_in_set_max(struct frame_in *f, size_t max)
{
	f->max = max;
}

/*
 * Moves the unread bytes to the front only when they are less than half: each byte moves once on
 * average.
 */
static void forget_used(struct frame_in *f)
{
	if (f->at == f->buf.n) {
		if (f->buf.cap > KEEP_BYTES)
			buf_done(&f->buf);
		else
			buf_clear(&f->buf);
		f->at = 0;
	} else if (f->at >= f->buf.n - f->at) {
		buf_drop_front(&f->buf, f->at);
		f->at = 0;
	}
}

int frame_in_add(struct frame_in *f, const uint8_t *p, size_t n, struct err *e)
{
	if (f->broken)
		return err_set(e, ERR_PROTO, "BAD_LENGTH was found before");
	forget_used(f);
	if (buf_put(&f->buf, p, n)) {
		f->buf.failed = false; /* nothing was added, so that the stream is still valid */
		return err_nomem(e);
	}
	return 0;
}

static int bad_length(struct frame_in *f, uint32_t length, struct err *e)
{
	f->broken = true;
	return err_set(e, ERR_PROTO, "BAD_LENGTH %lu", (unsigned long)length);
}

int frame_in_next(struct frame_in *f, struct frame *out, struct err *e)
{
	size_t have = f->buf.n - f->at;
	const uint8_t *p;
	uint32_t length;

	if (f->broken)
		return err_set(e, ERR_PROTO, "BAD_LENGTH was found before");
	if (have < LENGTH_BYTES)
		return 0;
	p = f->buf.p + f->at; /* the buffer may be NULL before the first byte */
	length = get_be32(p);
	if (!length || length > f->max)
		return bad_length(f, length, e);
	if (have - LENGTH_BYTES < length)
		return 0;
	*out = (struct frame){ p[LENGTH_BYTES], p + FRAME_HEADER_BYTES, length - 1 };
	f->at += LENGTH_BYTES + (size_t)length;
	return 1;
}

size_t frame_in_pending(const struct frame_in *f)
{
	return f->buf.n - f->at;
}

size_t frame_begin(struct buf *b, uint8_t type)
{
	const uint8_t head[FRAME_HEADER_BYTES] = { 0, 0, 0, 0, type };
	size_t mark = b->n;

	buf_put(b, head, sizeof(head));
	return mark;
}

int frame_end(struct buf *b, size_t mark)
{
	size_t length = b->n - mark - LENGTH_BYTES;

	if (b->failed || length > FRAME_MAX_BYTES) {
		int rc = b->failed ? -ERR_NOMEM : -ERR_LIMIT;

		b->n = mark;
		if (b->p)
			b->p[mark] = 0;
		return rc;
	}
	for (int i = 0; i < LENGTH_BYTES; i++)
		b->p[mark + i] = (uint8_t)(length >> (24 - 8 * i));
	return 0;
}

size_t frame_bytes(const uint8_t *p, size_t n)
{
	size_t bytes = n < FRAME_HEADER_BYTES ? 0 : LENGTH_BYTES + (size_t)get_be32(p);

	return bytes >= FRAME_HEADER_BYTES && bytes <= n ? bytes : 0;
}
