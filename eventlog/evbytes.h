/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers in the byte order of the sender. A writer uses its own byte order, and a reader swaps
 * bytes if needed. Only tests and golden files are written in the other order.
 */
#ifndef EVENTLOG_EVBYTES_H
#define EVENTLOG_EVBYTES_H

#include "common/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t ev_get16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t ev_get32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t ev_get64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline void ev_set16(uint8_t *p, uint16_t v, bool swap)
{
	v = swap ? __builtin_bswap16(v) : v;
	memcpy(p, &v, sizeof(v));
}

static inline void ev_set32(uint8_t *p, uint32_t v, bool swap)
{
	v = swap ? __builtin_bswap32(v) : v;
	memcpy(p, &v, sizeof(v));
}

static inline void ev_set64(uint8_t *p, uint64_t v, bool swap)
{
	v = swap ? __builtin_bswap64(v) : v;
	memcpy(p, &v, sizeof(v));
}

void ev_put16(struct buf *b, uint16_t v, bool swap);
void ev_put32(struct buf *b, uint32_t v, bool swap);
void ev_put64(struct buf *b, uint64_t v, bool swap);

/* Appends a string: its length in 16 bits, then its bytes. n <= UINT16_MAX. */
void ev_put_string(struct buf *b, const char *s, size_t n, bool swap);

/* Appends zeros up to the next multiple of 4 after `from`. */
void ev_pad(struct buf *b, size_t from);

/* True if n is `bytes`, with or without padding. */
static inline bool ev_is_padded(size_t bytes, size_t n)
{
	return n >= bytes && (n + 3) / 4 == (bytes + 3) / 4;
}

/*
 * Checked reading, like struct cur, in one of the two byte orders. Past the end all values are 0,
 * and `failed` stays set.
 */
struct evcur {
	const uint8_t *p; /* borrowed */
	size_t n, at;
	bool swap, failed;
};

/* returns NULL if fewer than n bytes are left */
const uint8_t *evcur_bytes(struct evcur *c, size_t n);
uint8_t evcur_8(struct evcur *c);
uint16_t evcur_16(struct evcur *c);
uint32_t evcur_32(struct evcur *c);
uint64_t evcur_64(struct evcur *c);

#endif
