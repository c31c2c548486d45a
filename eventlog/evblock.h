/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: units of writing and sending. A header with a checksum has the stream, length and number
 * of the block, and the counts before it. So a torn, altered or lost block is detected. Records
 * follow the header.
 */
#ifndef EVENTLOG_EVBLOCK_H
#define EVENTLOG_EVBLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVBLOCK_HEAD_BYTES 64
/* A buffer of 128 KB, the definitions of its types, and one further record. */
#define EVBLOCK_MAX_BYTES (256 * 1024)
#define EVBLOCK_VERSION 1
#define EVBLOCK_MAGIC UINT32_C(0x4f4c4f47) /* "OLOG", with the first byte as the highest one */

enum evblock_flags { EVBLOCK_LAST = 1 }; /* this block is the last one of its stream */

struct evblock {
	uint16_t version, flags;
	uint32_t bytes; /* with the header; a multiple of 4 */
	uint32_t crc; /* CRC-32C of the bytes behind the header */
	uint64_t stream; /* a number that is unique to the stream */
	uint64_t seq; /* number of this block in its stream, from 0 */
	uint64_t first; /* events of the stream before this block */
	/*
	 * events dropped by the sender for lack of room, from the stream's start to this block's
	 * end
	 */
	uint64_t dropped;
	uint32_t events; /* number of events in this block */
	bool swap; /* the sender's byte order differs from that of this machine */
};

/* Signal-safe. */
void evblock_encode(const struct evblock *b, uint8_t out[EVBLOCK_HEAD_BYTES]);

enum evblock_look {
	EVBLOCK_GOOD,
	EVBLOCK_SHORT, /* more bytes are needed to decide */
	EVBLOCK_NONE, /* no block begins here */
	EVBLOCK_TORN, /* good header, bad records */
	EVBLOCK_FUTURE, /* good, but of a later version, which is not readable here */
};

/*
 * Classifies the bytes at p. *b is set for GOOD, TORN and FUTURE, and for SHORT if there is a
 * complete good header (bytes > 0).
 */
enum evblock_look evblock_look(const uint8_t *p, size_t n, struct evblock *b);

/* Decodes the header of a block that is known to be good, without checks. */
void evblock_head(const uint8_t *p, struct evblock *b);

/*
 * Returns where the next header may begin, >= from; n - 3 (or 0) if there is none. Searches only
 * for the magic number.
 */
size_t evblock_seek(const uint8_t *p, size_t n, size_t from);

#endif
