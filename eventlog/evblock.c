/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evblock.h"

#include "common/base/hash.h"
#include "eventlog/evbytes.h"

#define HEAD_CRC_AT 60

void evblock_encode(const struct evblock *b, uint8_t out[EVBLOCK_HEAD_BYTES])
{
	ev_set32(out, EVBLOCK_MAGIC, b->swap);
	ev_set16(out + 4, b->version, b->swap);
	ev_set16(out + 6, b->flags, b->swap);
	ev_set32(out + 8, b->bytes, b->swap);
	ev_set32(out + 12, b->crc, b->swap);
	ev_set64(out + 16, b->stream, b->swap);
	ev_set64(out + 24, b->seq, b->swap);
	ev_set64(out + 32, b->first, b->swap);
	ev_set64(out + 40, b->dropped, b->swap);
	ev_set32(out + 48, b->events, b->swap);
	ev_set64(out + 52, 0, b->swap);
	ev_set32(out + HEAD_CRC_AT, hash_crc32c(0, out, HEAD_CRC_AT), b->swap);
}

static void decode(const uint8_t *p, struct evblock *b)
{
	b->version = ev_get16(p + 4, b->swap);
	b->flags = ev_get16(p + 6, b->swap);
	b->bytes = ev_get32(p + 8, b->swap);
	b->crc = ev_get32(p + 12, b->swap);
	b->stream = ev_get64(p + 16, b->swap);
	b->seq = ev_get64(p + 24, b->swap);
	b->first = ev_get64(p + 32, b->swap);
	b->dropped = ev_get64(p + 40, b->swap);
	b->events = ev_get32(p + 48, b->swap);
}

static bool is_magic(const uint8_t *p, bool *swap)
{
	*swap = ev_get32(p, true) == EVBLOCK_MAGIC;
	return *swap || ev_get32(p, false) == EVBLOCK_MAGIC;
}

void evblock_head(const uint8_t *p, struct evblock *b)
{
	*b = (struct evblock){ .swap = ev_get32(p, false) != EVBLOCK_MAGIC };
	decode(p, b);
}

enum evblock_look evblock_look(const uint8_t *p, size_t n, struct evblock *b)
{
	struct evblock head = { 0 };

	b->bytes = 0;
	if (n < 4)
		return EVBLOCK_SHORT;
	if (!is_magic(p, &head.swap))
		return EVBLOCK_NONE;
	if (n < EVBLOCK_HEAD_BYTES)
		return EVBLOCK_SHORT;
	if (ev_get32(p + HEAD_CRC_AT, head.swap) != hash_crc32c(0, p, HEAD_CRC_AT))
		return EVBLOCK_NONE;
	decode(p, &head);
	if (head.bytes < EVBLOCK_HEAD_BYTES || head.bytes > EVBLOCK_MAX_BYTES || head.bytes % 4)
		return EVBLOCK_NONE;
	*b = head;
	if (n < head.bytes)
		return EVBLOCK_SHORT;
	if (head.crc != hash_crc32c(0, p + EVBLOCK_HEAD_BYTES, head.bytes - EVBLOCK_HEAD_BYTES))
		return EVBLOCK_TORN;
	return head.version == EVBLOCK_VERSION ? EVBLOCK_GOOD : EVBLOCK_FUTURE;
}

size_t evblock_seek(const uint8_t *p, size_t n, size_t from)
{
	bool unused;

	for (; from + 4 <= n; from++)
		if ((p[from] == 'O' || p[from] == 'G') && is_magic(p + from, &unused))
			return from;
	return n >= 3 && n - 3 > from ? n - 3 : from;
}
