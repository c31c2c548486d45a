/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: messages in a stream of bytes. A big-endian u32 length (1..max; it counts the type and
 * the payload), a type byte, the payload.
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
	size_t n; /* bytes of payload; 0 is legal */
};

/*
 * Splits a stream into frames, independent of its chunks. Holds the bytes that arrived and were not
 * taken yet, never the announced size. Memory beyond 64 KiB is freed when it is empty.
 */
struct frame_in {
	struct buf buf; /* owned */
	size_t at; /* bytes of buf that frames have used up */
	size_t max; /* bytes of type and payload that one frame may have */
	bool broken; /* a bad length was seen: no more frames */
};

/* max: FRAME_PREAUTH_MAX_BYTES until the role is known, FRAME_MAX_BYTES after. Never allocates. */
void frame_in_init(struct frame_in *f, size_t max);
void frame_in_done(struct frame_in *f);

/* Applies to all frames that frame_in_next() has not returned yet. */
void frame_in_set_max(struct frame_in *f, size_t max);

/*
 * Appends n received bytes; invalidates pointers of earlier frames. ERR_NOMEM; ERR_PROTO after a
 * bad length.
 */
int frame_in_add(struct frame_in *f, const uint8_t *p, size_t n, struct err *e);

/*
 * Returns 1: *out is the next frame, valid until the next frame_in_add or frame_in_done. 0: more
 * bytes are needed. -ERR_PROTO "BAD_LENGTH n": as soon as the four bytes of the length have
 * arrived, and in each later call.
 */
int frame_in_next(struct frame_in *f, struct frame *out, struct err *e);

/*
 * Returns the bytes of an incomplete frame: non-zero = the frame's deadline runs. Call after
 * frame_in_next() == 0.
 */
size_t frame_in_pending(const struct frame_in *f);

/*
 * Writing: frame_begin, append the payload, frame_end. frame_end returns 0 or
 * -ERR_LIMIT (more than FRAME_MAX_BYTES), -ERR_NOMEM (the buffer failed); the buffer is then
 * as long as before frame_begin. mark = what frame_begin returned.
 */
size_t frame_begin(struct buf *b, uint8_t type);
int frame_end(struct buf *b, size_t mark);

/* Returns the length of the whole frame at p, header included; 0 if p does not begin with one. */
size_t frame_bytes(const uint8_t *p, size_t n);

#endif
