/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one stream: definitions, events, blocks. Does no I/O: whole blocks
 * come to be in `out`, from where the caller takes them.
 */
#ifndef EVENTLOG_EVWRITE_H
#define EVENTLOG_EVWRITE_H

#include "common/base/clock.h"
#include "eventlog/evblock.h"
#include "eventlog/evtype.h"
#include "eventlog/evread.h"

struct evwrite {
	struct buf out; /* whole blocks; take them, then buf_clear() */
	struct buf body; /* of the block that is being filled */
	struct evblock head; /* of that block */
	size_t block_bytes; /* a block is closed when this is reached */
};

#define EVWRITE_BLOCK_BYTES (128 * 1024)

/*
 * stream: a number that no other stream has. swap: in the byte order that is not this machine's.
 * block_bytes <= EVWRITE_BLOCK_BYTES; 0 = that.
 */
void evwrite_init(struct evwrite *w, uint64_t stream, bool swap, size_t block_bytes);
void evwrite_done(struct evwrite *w);

/* Before the first event of this number. Number 0: what holds for the whole stream. ERR_INVALID,
 * ERR_LIMIT, ERR_NOMEM. */
int evwrite_define(struct evwrite *w, unsigned number, const struct evtype *t, struct err *e);

/*
 * From here on times are ticks, and s says what they are in ns since 1970. Without one they are
 * that themselves. ERR_INVALID for a scale that is invalid.
 */
int evwrite_clock(struct evwrite *w, const struct ticks_scale *s, struct err *e);

/*
 * One event, by its type, ticks and values. The type was defined with this number. ERR_INVALID:
 * values that are not of the type.
 * ERR_LIMIT: 64 KB and more. ERR_NOMEM. Nothing is written then.
 */
int evwrite_event(struct evwrite *w, unsigned number, const struct event *ev, struct err *e);

/*
 * The same of an event whose values are as a record of this machine has them. They are
 * the caller's to check. ERR_LIMIT, ERR_NOMEM.
 */
int evwrite_record(struct evwrite *w, unsigned number, uint64_t time, struct bytes values,
		   struct err *e);

/* n events more that there was no room for. */
void evwrite_dropped(struct evwrite *w, uint64_t n);

/* Closes the block that is being filled, if anything is in it; is_last: the stream ends.
 * ERR_NOMEM. */
int evwrite_cut(struct evwrite *w, bool is_last, struct err *e);

#endif
