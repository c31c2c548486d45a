/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one stream: definitions, events, blocks. Does no I/O: complete blocks are appended to
 * `out`, from where the caller takes them.
 */
#ifndef EVENTLOG_EVWRITE_H
#define EVENTLOG_EVWRITE_H

#include "common/base/clock.h"
#include "eventlog/evblock.h"
#include "eventlog/evtype.h"
#include "eventlog/evread.h"

struct evwrite {
	struct buf out; /* complete blocks; take them, then buf_clear() */
	struct buf body; /* of the block that is being filled */
	struct evblock head; /* header of the current block */
	size_t block_bytes; /* a block is closed when this is reached */
};

#define EVWRITE_BLOCK_BYTES (128 * 1024)

/*
 * stream: a number that is unique to this stream. swap: write in the byte order that is not this
 * machine's. block_bytes <= EVWRITE_BLOCK_BYTES; 0 = the maximum.
 */
void evwrite_init(struct evwrite *w, uint64_t stream, bool swap, size_t block_bytes);
void evwrite_done(struct evwrite *w);

/*
 * Must precede the first event of this number. Number 0: constants of the whole stream.
 * ERR_INVALID, ERR_LIMIT, ERR_NOMEM.
 */
int evwrite_define(struct evwrite *w, unsigned number, const struct evtype *t, struct err *e);

/*
 * From here on times are ticks, which s converts to ns since 1970. Without a clock, times are ns
 * themselves. ERR_INVALID: the scale is invalid.
 */
int evwrite_clock(struct evwrite *w, const struct ticks_scale *s, struct err *e);

/*
 * Writes one event, by its type, ticks and values. The type was defined with this number.
 * ERR_INVALID: the values are not of the type. ERR_LIMIT: 64 KB and more. ERR_NOMEM. On failure
 * nothing is written.
 */
int evwrite_event(struct evwrite *w, unsigned number, const struct event *ev, struct err *e);

/*
 * The same for an event whose values have the layout of a record of this machine. The caller has
 * checked them. ERR_LIMIT, ERR_NOMEM.
 */
int evwrite_record(struct evwrite *w, unsigned number, uint64_t time, struct bytes values,
		   struct err *e);

/* Counts n events that were dropped for lack of room. */
void evwrite_dropped(struct evwrite *w, uint64_t n);

/* Closes the current block, if it is not empty; is_last: the stream ends. ERR_NOMEM. */
int evwrite_cut(struct evwrite *w, bool is_last, struct err *e);

#endif
