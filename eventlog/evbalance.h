/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the events of streams that arrived, and those that did not. For each stream whose end has
 * arrived, generated = stored + left out + dropped + lost, exactly. This holds across restarts and
 * for repeated blocks. In a stream without an end, the number of events behind its last block is
 * unknown.
 */
#ifndef EVENTLOG_EVBALANCE_H
#define EVENTLOG_EVBALANCE_H

#include "common/base/err.h"
#include "common/container/map.h"
#include "eventlog/evblock.h"

/* streams: the threads of all programs over a long time; they take 100 MB */
#define EVBALANCE_STREAMS_MAX (1u << 20)

struct evbalance_stream {
	uint64_t id;
	uint64_t seq, first; /* of the next block: all earlier ones have arrived, or are lost */
	/* events; left_out: they arrived, but had no room in the destination */
	uint64_t stored, left_out;
	uint64_t dropped; /* events that the sender dropped for lack of room */
	bool is_over;
	bool has_changed; /* changed since evbalance_saved() */
	struct evbalance_stream *next; /* next changed stream */
};

struct evbalance {
	struct map streams; /* -> struct evbalance_stream *, owned */
	struct evbalance_stream *changed;
};

void evbalance_init(struct evbalance *b);
void evbalance_done(struct evbalance *b);

/*
 * Counts a good block of head->bytes at p. Returns 1 if it is new: *out is its stream, and its
 * events count as stored. Returns 0 if the block, or its gap, was counted before. Fails with
 * ERR_LIMIT, ERR_NOMEM.
 */
int evbalance_block(struct evbalance *b, const uint8_t *p, const struct evblock *head,
		    struct evbalance_stream **out, struct err *e);

/* Changes n of the stream's stored events to left out. */
void evbalance_left_out(struct evbalance_stream *s, uint64_t n);

/*
 * Adds a saved stream. Fails with ERR_INVALID if it is malformed or was added already, and with
 * ERR_LIMIT, ERR_NOMEM.
 */
int evbalance_restore(struct evbalance *b, const struct evbalance_stream *like, struct err *e);

/* Marks all streams as unchanged. Called after the changed streams were saved. */
void evbalance_saved(struct evbalance *b);

struct evbalance_totals {
	uint64_t generated, stored, left_out, dropped, lost; /* lost: between sender and receiver */
	uint64_t streams, open; /* open: number of streams whose end has not arrived */
};
void evbalance_totals(const struct evbalance *b, struct evbalance_totals *out);

#endif
