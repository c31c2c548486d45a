/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection, or all datagrams, of a receiver of event logs. An inlet converts bytes of any
 * form to blocks that can be read alone. The first bytes determine the form: blocks with
 * acknowledgements (eventlog/send), an event log, or lines of ULM, BP, Lite or XML. The bytes are
 * untrusted until they are checked. Does no I/O.
 *
 * Blocks with acknowledgements are passed on unchanged. All other events are written to a stream of
 * the inlet.
 */
#ifndef EVENTLOG_INLET_INLET_H
#define EVENTLOG_INLET_INLET_H

#include "eventlog/evblock.h"
#include "eventlog/text/evline.h"

struct inlet;

struct inlet_conf {
	/*
	 * Takes a block of head->bytes at p. place: offset in the connection up to which to
	 * acknowledge; 0: the peer expects no acknowledgement. Returns 0, or -ERR_AGAIN if the
	 * block cannot be taken now. Any other error ends the connection.
	 */
	int (*on_block)(void *arg, const uint8_t *p, const struct evblock *head, uint64_t place);
	void *arg;
	uint64_t stream; /* unique number of the stream for events that arrive outside of blocks */
	struct evline *line; /* borrowed; several inlets may share it, one at a time */
};

struct inlet_report {
	uint64_t events; /* events that arrived outside of blocks */
	uint64_t bad_lines; /* bad or too long lines */
	uint64_t skipped_bytes; /* bytes outside of good blocks */
	uint64_t lost; /* events that an event log lacks, or that have no description */
	char why[ERR_TEXT_BYTES]; /* reason of the first bad line */
};

/* Returns NULL without memory. */
struct inlet *inlet_new(const struct inlet_conf *conf);
void inlet_free(struct inlet *i);

/* Returns room for the next bytes; *n > 0 unless a block waits. */
uint8_t *inlet_room(struct inlet *i, size_t *n);

/*
 * Takes n bytes that were written to the room. is_last: no further bytes follow. Fails with
 * ERR_AGAIN if a block was not taken: call again later with 0 bytes. Fails with ERR_PROTO for bytes
 * that are not a block, with errors of on_block(), and with ERR_NOMEM.
 */
int inlet_push(struct inlet *i, size_t n, bool is_last, struct err *e);

/*
 * Takes a datagram of complete blocks, or complete lines. Incomplete ones are dropped and counted.
 */
int inlet_datagram(struct inlet *i, const uint8_t *p, size_t n, struct err *e);

/* Passes on events that wait until a block is full. Fails like inlet_push(). */
int inlet_flush(struct inlet *i, struct err *e);

/* True if events wait until a block is full, or until on_block() takes one. */
bool inlet_has_rest(const struct inlet *i);

/* True if the peer expects acknowledgements. */
bool inlet_acknowledges(const struct inlet *i);

/* True if a complete event, or the begin of blocks with acknowledgements, has arrived. */
bool inlet_is_known(const struct inlet *i);

const struct inlet_report *inlet_report(const struct inlet *i);

#endif
