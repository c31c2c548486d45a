/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads streams from bytes of any origin: torn, altered or mixed. Complete events are returned
 * once. The rest is skipped, counted and reported. Does no I/O: the caller owns the bytes.
 */
#ifndef EVENTLOG_EVREAD_H
#define EVENTLOG_EVREAD_H

#include "common/base/clock.h"
#include "eventlog/evblock.h"
#include "eventlog/evtype.h"

#define EVREAD_STREAMS_MAX 65536 /* threads of all ranks of a large job in one file */
/* of all definitions; more is malicious */
#define EVREAD_TYPES_MAX_BYTES (64u << 20)

struct evread;

/* An event; valid until the next call on the reader. */
struct event {
	const struct evtype *type;
	const struct evtype *stream_type; /* constants of the whole stream; NULL = none */
	const struct evvalue *value; /* type->nfield of them */
	uint64_t stream, number; /* stream, and number in the stream, from 0 */
	uint64_t ticks; /* the sender's own time */
	nsec_t wall_ns; /* since 1970, by the sender's clock */
};

struct evread_report {
	uint64_t blocks, events, bytes; /* good blocks and events returned; bytes examined */
	uint64_t skipped_bytes; /* outside of good blocks */
	uint64_t torn_blocks; /* with a good header and a bad rest, at the end or before */
	uint64_t repeated_blocks; /* with a lower number than the stream has reached */
	uint64_t future_blocks; /* of a later version */
	uint64_t bad_records; /* in good blocks: an error of the sender */
	uint64_t undescribed; /* events whose description was lost */
	uint64_t lost_blocks, lost_events; /* sent and not received */
	uint64_t dropped; /* dropped by the senders for lack of room */
	uint64_t first_bad; /* place of the first byte skipped; UINT64_MAX = none */
};

/* True if everything was intact and complete, apart from events that the senders dropped. */
bool evread_is_clean(const struct evread_report *r);

struct evread *evread_new(void); /* NULL: no memory */
void evread_free(struct evread *r);

enum evread_got {
	EVREAD_BLOCK, /* a good block: evread_next() returns its events */
	EVREAD_MORE, /* more bytes are needed: repeat the call with these and the next ones */
	EVREAD_END, /* is_last, and nothing is left */
};

/*
 * Examines n bytes from the end of the last call on; *used of them are consumed. Events of a block
 * are valid as long as the bytes. With n >= EVBLOCK_MAX_BYTES or is_last it always progresses.
 * -ERR_NOMEM.
 */
int evread_push(struct evread *r, const uint8_t *p, size_t n, bool is_last, size_t *used);

/* Returns the next event of that block. */
bool evread_next(struct evread *r, struct event *out);

const struct evread_report *evread_report(const struct evread *r);

#endif
