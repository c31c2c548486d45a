/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evgap.h"

#include "common/base/hash.h"
#include "eventlog/evbytes.h"

/* Reads a gap from untrusted bytes: sums of its numbers must not overflow. */
static bool has_gap(const uint8_t *p, const struct evblock *b, struct evgap *g)
{
	const uint8_t *r = p + EVBLOCK_HEAD_BYTES;
	uint64_t blocks, events;

	if (b->version != EVBLOCK_VERSION || b->events || b->bytes < EVGAP_BLOCK_BYTES ||
	    ev_get16(r, b->swap) != EV_GAP || ev_get16(r + 2, b->swap) != EVGAP_RECORD_BYTES)
		return false;
	blocks = ev_get64(r + 4, b->swap);
	events = ev_get64(r + 12, b->swap);
	if (!blocks || blocks > UINT64_MAX - b->seq || events > UINT64_MAX - b->first)
		return false;
	g->end_seq = b->seq + blocks;
	g->end_first = b->first + events;
	return true;
}

bool evgap_of(const uint8_t *p, const struct evblock *b, struct evgap *out)
{
	*out = (struct evgap){ .stream = b->stream,
			       .seq = b->seq,
			       .end_seq = b->seq + 1,
			       .first = b->first,
			       .end_first = b->first + b->events,
			       .dropped = b->dropped,
			       .is_last = b->flags & EVBLOCK_LAST };
	return has_gap(p, b, out);
}

void evgap_merge(struct evgap *g, const struct evgap *more)
{
	g->seq = more->seq < g->seq ? more->seq : g->seq;
	g->first = more->first < g->first ? more->first : g->first;
	g->end_seq = more->end_seq > g->end_seq ? more->end_seq : g->end_seq;
	g->end_first = more->end_first > g->end_first ? more->end_first : g->end_first;
	g->dropped = more->dropped > g->dropped ? more->dropped : g->dropped;
	g->is_last |= more->is_last;
}

void evgap_encode(const struct evgap *g, uint8_t out[EVGAP_BLOCK_BYTES])
{
	uint8_t *r = out + EVBLOCK_HEAD_BYTES;
	struct evblock b = { .version = EVBLOCK_VERSION,
			     .flags = g->is_last ? EVBLOCK_LAST : 0,
			     .bytes = EVGAP_BLOCK_BYTES,
			     .stream = g->stream,
			     .seq = g->seq,
			     .first = g->first,
			     .dropped = g->dropped };

	ev_set16(r, EV_GAP, false);
	ev_set16(r + 2, EVGAP_RECORD_BYTES, false);
	ev_set64(r + 4, g->end_seq - g->seq, false);
	ev_set64(r + 12, g->end_first - g->first, false);
	b.crc = hash_crc32c(0, r, EVGAP_RECORD_BYTES);
	evblock_encode(&b, out);
}
