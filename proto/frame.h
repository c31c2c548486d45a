/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: messages in a stream of bytes. A frame is a big-endian u32 length of type and payload
 * (1..max), a type byte, and the payload.
 */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER_BYTES 5

struct frame {
	uint8_t type;
	const uint8_t *p; /* payload; borrowed */
	size_t n; /* bytes of payload; may be 0 */
};

/*
 * Splits a stream into frames, however its chunks are cut. Stores only bytes that have arrived and
 * were not taken yet, whatever length a frame announces. Without data it frees memory beyond 64
 * KiB.
 */
struct frame_in {
	struct buf buf; /* owned */
	size_t at; /* bytes of buf in frames that were taken */
	size_t max; /* largest type and payload of a frame */
	bool broken; /* a bad length was found: no more frames follow */
};

/* max: FRAME_PREAUTH_MAX_BYTES until the role is known, FRAME_MAX_BYTES after. Never allocates. */
void frame_in_init(struct frame_in *f, size_t max);
void frame_in_done(struct frame_in *f);

/* Sets the limit for all frames that frame_in_next() has not returned yet. */
void frame_in_set_max(struct frame_in *f, size_t max);

/*
 * Appends n received bytes, and invalidates pointers of earlier frames. Fails with ERR_NOMEM, and
 * with ERR_PROTO after a bad length.
 */
int frame_in_add(struct frame_in *f, const uint8_t *p, size_t n, struct err *e);

/*
 * Returns 1: *out is the next frame, valid until the next frame_in_add() or frame_in_done().
 * Returns 0 if more bytes are needed. Fails with ERR_PROTO "BAD_LENGTH n" as soon as a bad length
 * has arrived, and in each later call.
 */
int frame_in_next(struct frame_in *f, struct frame *out, struct err *e);

/*
 * Returns the bytes of an incomplete frame, whose deadline runs if there are any. Call after
 * frame_in_next() has returned 0.
 */
size_t frame_in_pending(const struct frame_in *f);

/*
 * Write a frame: frame_begin(), append the payload, frame_end() with the result of frame_begin() as
 * mark. frame_end() fails with ERR_LIMIT above FRAME_MAX_BYTES, and with ERR_NOMEM if the buffer
 * failed. The buffer is then as long as before frame_begin().
 */
size_t frame_begin(struct buf *b, uint8_t type);
int frame_end(struct buf *b, size_t mark);

/*
 * Returns the length of the complete frame at p, with its header; 0 if p does not begin with one.
 */
size_t frame_bytes(const uint8_t *p, size_t n);

#endif
