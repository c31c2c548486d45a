/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes events in blocks that can be read alone: each has the descriptions of its events. So a
 * lost, repeated or moved block does not affect the others.
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
 * A stream; all of it is borrowed. Its blocks have the most bytes that evwrite.h permits. A type
 * has the same number in all of them.
 */
struct evalone {
	struct evwrite *w;
	struct evtypes *types; /* of the stream */
	struct evalone_said *said;
	size_t block_bytes; /* a block is closed at about this size, EVALONE_BLOCK_BYTES at most */
	/* Writes what describes the stream, at the begin of each block; NULL: nothing. */
	int (*describe)(void *arg);
	void *arg;
};

#define EVALONE_BLOCK_BYTES (64 * 1024)

/* Writes one event. On failure it is not written. ERR_INVALID, ERR_LIMIT, ERR_NOMEM. */
int evalone_event(const struct evalone *a, const struct event *ev, struct err *e);

#endif
