/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one stream: definitions, events, blocks. Does no I/O: complete blocks are appended to
 * `out`, and the caller takes them.
 */
#ifndef EVENTLOG_EVWRITE_H
#define EVENTLOG_EVWRITE_H

#include "common/base/clock.h"
#include "eventlog/evblock.h"
#include "eventlog/evtype.h"
#include "eventlog/evread.h"

struct evwrite {
	struct buf out; /* complete blocks: the caller takes them, then calls buf_clear() */
	struct buf body; /* records of the current block */
	struct evblock head; /* header of the current block */
	size_t block_bytes; /* size at which a block is closed */
};

#define EVWRITE_BLOCK_BYTES (128 * 1024)

/*
 * stream: a number that is unique to this stream. swap: write in the other byte order than this
 * machine's. block_bytes <= EVWRITE_BLOCK_BYTES; 0 = the maximum.
 */
void evwrite_init(struct evwrite *w, uint64_t stream, bool swap, size_t block_bytes);
void evwrite_done(struct evwrite *w);

/*
 * Defines a type, before its first event. Number 0: constants of the stream. Fails with
 * ERR_INVALID, ERR_LIMIT, ERR_NOMEM.
 */
int evwrite_define(struct evwrite *w, unsigned number, const struct evtype *t, struct err *e);

/*
 * From now on times are ticks, which s converts to ns since 1970. Without a clock, times are such
 * ns. Fails with ERR_INVALID for an invalid scale.
 */
int evwrite_clock(struct evwrite *w, const struct ticks_scale *s, struct err *e);

/*
 * Writes one event: its type, which was defined with this number, ticks and values. Fails with
 * ERR_INVALID if the values do not fit the type, ERR_LIMIT for 64 KB or more, ERR_NOMEM. On failure
 * nothing is written.
 */
int evwrite_event(struct evwrite *w, unsigned number, const struct event *ev, struct err *e);

/*
 * Writes an event whose values have the layout of a record of this machine. The caller has checked
 * them. Fails with ERR_LIMIT, ERR_NOMEM.
 */
int evwrite_record(struct evwrite *w, unsigned number, uint64_t time, struct bytes values,
		   struct err *e);

/* Counts n events that were dropped for lack of room. */
void evwrite_dropped(struct evwrite *w, uint64_t n);

/* Closes the current block if it is not empty. is_last: the stream ends. Fails with ERR_NOMEM. */
int evwrite_cut(struct evwrite *w, bool is_last, struct err *e);

#endif
