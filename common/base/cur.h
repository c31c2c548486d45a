/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked reading of bytes from another writer. Failure is sticky: after the first read past the
 * end, every getter returns 0 or NULL, and `failed` stays set. A decoder reads a whole record and
 * tests `failed` once. Never reads past n.
 */
#ifndef COMMON_BASE_CUR_H
#define COMMON_BASE_CUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cur {
	const uint8_t *p; /* borrowed */
	size_t n, at; /* at <= n */
	bool failed;
};

void cur_init(struct cur *c, const void *p, size_t n);

/* Returns the remaining bytes; 0 after a failure. */
static inline size_t cur_left(const struct cur *c)
{
	return c->failed ? 0 : c->n - c->at;
}

/* True if nothing has failed and all bytes were read. */
bool cur_is_done(const struct cur *c);

uint8_t cur_u8(struct cur *c);
uint16_t cur_u16le(struct cur *c);
uint32_t cur_u32le(struct cur *c);
uint64_t cur_u64le(struct cur *c);
double cur_doublele(struct cur *c);

/*
 * Reads a base-128 number. Fails on more than ten bytes, and on bits beyond 64. Padded encodings
 * are accepted.
 */
uint64_t cur_varint_long(struct cur *c);

/* The inline part handles the most frequent case, one byte. */
static inline uint64_t cur_varint(struct cur *c)
{
	if (cur_left(c) && c->p[c->at] < 0x80)
		return c->p[c->at++];
	return cur_varint_long(c);
}

/*
 * Returns n bytes inside the input; or NULL, and sets failed. For n == 0 the result is not NULL
 * unless failed is set.
 */
const uint8_t *cur_bytes(struct cur *c, size_t n);

#endif
