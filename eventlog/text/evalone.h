/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes events in blocks that can be read alone: each has the descriptions of its events. So a
 * lost, repeated or moved block has no effect on others.
 */
#ifndef EVENTLOG_TEXT_EVALONE_H
#define EVENTLOG_TEXT_EVALONE_H

#include "eventlog/evwrite.h"
#include "eventlog/text/evtypes.h"

/* Types that are described in the current block. Zeroed at first. */
struct evalone_said {
	uint8_t bit[EV_TYPE_LAST / 8 + 1];
};

/*
 * A stream, whose members are borrowed. Its blocks may have the largest size of evwrite.h. A type
 * has the same number in all blocks.
 */
struct evalone {
	struct evwrite *w;
	struct evtypes *types; /* types of the stream */
	struct evalone_said *said;
	size_t block_bytes; /* size at which a block is closed, at most EVALONE_BLOCK_BYTES */
	/* Writes a description of the stream at the begin of each block; NULL: none. */
	int (*describe)(void *arg);
	void *arg;
};

#define EVALONE_BLOCK_BYTES (64 * 1024)

/* Writes one event. Fails with ERR_INVALID, ERR_LIMIT, ERR_NOMEM, and then writes nothing. */
int evalone_event(const struct evalone *a, const struct event *ev, struct err *e);

#endif
