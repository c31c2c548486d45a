/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses of a stream: blocks and events, by their numbers. A program that loses blocks on their way
 * puts a block in their place that says so. So all programs behind it count exactly, also when
 * nothing follows.
 */
#ifndef EVENTLOG_EVGAP_H
#define EVENTLOG_EVGAP_H

#include "eventlog/evblock.h"

#define EV_GAP 0xff02 /* type of the record */
#define EVGAP_RECORD_BYTES 20
#define EVGAP_BLOCK_BYTES (EVBLOCK_HEAD_BYTES + EVGAP_RECORD_BYTES)

/* Of blocks seq .. end_seq - 1, with events first .. end_first - 1, those that have not come will
 * not come. */
struct evgap {
	uint64_t stream, seq, end_seq, first, end_first;
	uint64_t dropped; /* by the sender, up to the last of them */
	bool is_last; /* the stream ended with it */
};

/*
 * The part of its stream that a good block of b->bytes at p speaks of: of one with events itself,
 * of one that stands for lost ones those. True: the latter.
 */
bool evgap_of(const uint8_t *p, const struct evblock *b, struct evgap *out);

/* Two losses of one stream, what lies between them too. */
void evgap_merge(struct evgap *g, const struct evgap *more);

/* The block that stands for them. */
void evgap_encode(const struct evgap *g, uint8_t out[EVGAP_BLOCK_BYTES]);

#endif
