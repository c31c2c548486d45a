/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses of a stream: blocks and events, by their numbers. A program that loses blocks sends a gap
 * in their place: a block that describes the loss. So receivers count exactly, even if no block
 * follows.
 */
#ifndef EVENTLOG_EVGAP_H
#define EVENTLOG_EVGAP_H

#include "eventlog/evblock.h"

#define EV_GAP 0xff02 /* type of the record */
#define EVGAP_RECORD_BYTES 20
#define EVGAP_BLOCK_BYTES (EVBLOCK_HEAD_BYTES + EVGAP_RECORD_BYTES)

/*
 * A range of blocks seq .. end_seq - 1 with events first .. end_first - 1. Blocks of the range that
 * have not arrived are lost.
 */
struct evgap {
	uint64_t stream, seq, end_seq, first, end_first;
	uint64_t dropped; /* events dropped by the sender, up to the last of these blocks */
	bool is_last; /* the stream ended with these blocks */
};

/*
 * Sets *out to the range of a good block of b->bytes at p: for a gap the lost range, otherwise the
 * block's own. Returns true for a gap.
 */
bool evgap_of(const uint8_t *p, const struct evblock *b, struct evgap *out);

/* Extends g to include another loss of its stream, and everything between them. */
void evgap_merge(struct evgap *g, const struct evgap *more);

/* Encodes the gap as a block. */
void evgap_encode(const struct evgap *g, uint8_t out[EVGAP_BLOCK_BYTES]);

#endif
