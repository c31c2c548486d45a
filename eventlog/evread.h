/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads streams from bytes of any origin: torn, altered or mixed. Complete events are returned
 * once. All other bytes are skipped and counted. Does no I/O: the caller owns the bytes.
 */
#ifndef EVENTLOG_EVREAD_H
#define EVENTLOG_EVREAD_H

#include "common/base/clock.h"
#include "eventlog/evblock.h"
#include "eventlog/evtype.h"

/* streams: the threads of all ranks of a large job in one file */
#define EVREAD_STREAMS_MAX 65536
/* bytes of all definitions; a log with more is malicious */
#define EVREAD_TYPES_MAX_BYTES (64u << 20)

struct evread;

/* An event; valid until the next call on the reader. */
struct event {
	const struct evtype *type;
	const struct evtype *stream_type; /* constants of the stream; NULL = none */
	const struct evvalue *value; /* type->nfield values */
	uint64_t stream, number; /* the stream, and the event's number in it, from 0 */
	uint64_t ticks; /* time of the sender's clock */
	nsec_t wall_ns; /* ns since 1970, by the sender's clock */
};

struct evread_report {
	uint64_t blocks, events, bytes; /* good blocks, returned events, examined bytes */
	uint64_t skipped_bytes; /* bytes outside of good blocks */
	uint64_t torn_blocks; /* blocks with a good header and bad or missing records */
	uint64_t repeated_blocks; /* blocks with a lower number than their stream has reached */
	uint64_t future_blocks; /* blocks of a later version */
	uint64_t bad_records; /* invalid records in good blocks: an error of the sender */
	uint64_t undescribed; /* events whose description is lost */
	uint64_t lost_blocks, lost_events; /* sent, but not received */
	uint64_t dropped; /* events that senders dropped for lack of room */
	uint64_t first_bad; /* offset of the first skipped byte; UINT64_MAX = none */
};

/* True if the input was intact and complete, apart from events that the senders dropped. */
bool evread_is_clean(const struct evread_report *r);

struct evread *evread_new(void); /* returns NULL without memory */
void evread_free(struct evread *r);

enum evread_got {
	EVREAD_BLOCK, /* a good block, whose events evread_next() returns */
	EVREAD_MORE, /* more bytes are needed: call again with the unused bytes and the next ones */
	EVREAD_END, /* is_last, and no bytes are left */
};

/*
 * Examines n bytes, which begin where the last call ended. *used of them are consumed. Events of a
 * block are valid as long as the bytes. With n >= EVBLOCK_MAX_BYTES or is_last, a call always
 * consumes some. Fails with ERR_NOMEM.
 */
int evread_push(struct evread *r, const uint8_t *p, size_t n, bool is_last, size_t *used);

/* Returns the next event of that block. */
bool evread_next(struct evread *r, struct event *out);

const struct evread_report *evread_report(const struct evread *r);

#endif
