/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of streams: what has come, and what has not. For each stream whose end has come:
 * generated = stored + left out + dropped + lost, exactly. That holds across restarts, and however
 * often blocks come. In a stream without an end the events behind its last block are not known.
 */
#ifndef EVENTLOG_EVBALANCE_H
#define EVENTLOG_EVBALANCE_H

#include "common/base/err.h"
#include "common/container/map.h"
#include "eventlog/evblock.h"

#define EVBALANCE_STREAMS_MAX (1u << 20) /* threads of all programs of a long time: 100 MB */

struct evbalance_stream {
	uint64_t id;
	uint64_t seq, first; /* of the block that is due: all before has come, or never will */
	/* events; left out: they came, and the destination has no room for them */
	uint64_t stored, left_out;
	uint64_t dropped; /* by its sender, which had no room */
	bool is_over;
	bool has_changed; /* since evbalance_saved() */
	struct evbalance_stream *next; /* that has changed */
};

struct evbalance {
	struct map streams; /* -> struct evbalance_stream *, owned */
	struct evbalance_stream *changed;
};

void evbalance_init(struct evbalance *b);
void evbalance_done(struct evbalance *b);

/*
 * A good block of head->bytes at p. 1: it is new, and *out is its stream; its events are taken for
 * stored. 0: it, or what it says of lost ones, was here. ERR_LIMIT, ERR_NOMEM.
 */
int evbalance_block(struct evbalance *b, const uint8_t *p, const struct evblock *head,
		    struct evbalance_stream **out, struct err *e);

/* Of its stored ones n have found no room. */
void evbalance_left_out(struct evbalance_stream *s, uint64_t n);

/* A stream as it was saved. ERR_INVALID: it makes no sense, or is there; ERR_LIMIT, ERR_NOMEM. */
int evbalance_restore(struct evbalance *b, const struct evbalance_stream *like, struct err *e);

/* Those that have changed are as they are saved. */
void evbalance_saved(struct evbalance *b);

struct evbalance_totals {
	uint64_t generated, stored, left_out, dropped, lost; /* lost: on the way */
	uint64_t streams, open; /* open: their end has not come */
};
void evbalance_totals(const struct evbalance *b, struct evbalance_totals *out);

#endif
