/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked reading of bytes from another writer. Failure is sticky: past the
 * first short read every getter returns 0 or NULL and `failed` stays. A
 * decoder reads a whole record and tests it once. Never reads past n.
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

/* True if nothing failed and no byte is left. */
bool cur_is_done(const struct cur *c);

uint8_t cur_u8(struct cur *c);
uint16_t cur_u16le(struct cur *c);
uint32_t cur_u32le(struct cur *c);
uint64_t cur_u64le(struct cur *c);
double cur_doublele(struct cur *c);

/* Base-128; fails on more than ten bytes and on bits beyond 64. Padded encodings pass. */
uint64_t cur_varint_long(struct cur *c);

/* Inline for the most frequent case: one byte. */
static inline uint64_t cur_varint(struct cur *c)
{
	if (cur_left(c) && c->p[c->at] < 0x80)
		return c->p[c->at++];
	return cur_varint_long(c);
}

/* Returns n bytes inside the input, or NULL and failed. For n == 0 not NULL unless failed. */
const uint8_t *cur_bytes(struct cur *c, size_t n);

#endif
