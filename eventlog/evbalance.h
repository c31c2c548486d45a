/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of streams: the events that arrived, and those that did not. For each stream whose end
 * has arrived: generated = stored + left out + dropped + lost, exactly. That holds across restarts
 * and for repeated blocks. In a stream without an end the events behind its last block are unknown.
 */
#ifndef EVENTLOG_EVBALANCE_H
#define EVENTLOG_EVBALANCE_H

#include "common/base/err.h"
#include "common/container/map.h"
#include "eventlog/evblock.h"

#define EVBALANCE_STREAMS_MAX (1u << 20) /* threads of all programs of a long time: 100 MB */

struct evbalance_stream {
	uint64_t id;
	uint64_t seq, first; /* of the next block: all before has arrived, or never will */
	/* events; left out: arrived without room in the destination */
	uint64_t stored, left_out;
	uint64_t dropped; /* dropped by its sender, which had no room */
	bool is_over;
	bool has_changed; /* since evbalance_saved() */
	struct evbalance_stream *next; /* next changed stream */
};

struct evbalance {
	struct map streams; /* -> struct evbalance_stream *, owned */
	struct evbalance_stream *changed;
};

void evbalance_init(struct evbalance *b);
void evbalance_done(struct evbalance *b);

/*
 * Accounts for a good block of head->bytes at p. 1: it is new, *out is its stream, and its events
 * count as stored. 0: the block, or its gap, was counted before. ERR_LIMIT, ERR_NOMEM.
 */
int evbalance_block(struct evbalance *b, const uint8_t *p, const struct evblock *head,
		    struct evbalance_stream **out, struct err *e);

/* n of the stream's stored events did not fit. */
void evbalance_left_out(struct evbalance_stream *s, uint64_t n);

/* Adds a saved stream. ERR_INVALID: it is malformed, or added already; ERR_LIMIT, ERR_NOMEM. */
int evbalance_restore(struct evbalance *b, const struct evbalance_stream *like, struct err *e);

/* Must be called after the changed streams were saved. */
void evbalance_saved(struct evbalance *b);

struct evbalance_totals {
	uint64_t generated, stored, left_out, dropped, lost; /* lost: on the way */
	uint64_t streams, open; /* open: their end has not arrived */
};
void evbalance_totals(const struct evbalance *b, struct evbalance_totals *out);

#endif
