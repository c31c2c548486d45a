/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room. */
#ifndef EVENTLOG_INLET_INLET_INTERNAL_H
#define EVENTLOG_INLET_INLET_INTERNAL_H

#include "eventlog/evread.h"
#include "eventlog/evwrite.h"
#include "eventlog/inlet/inlet.h"
#include "eventlog/text/evalone.h"

enum inlet_form { INLET_UNKNOWN, INLET_BLOCKS, INLET_LOG, INLET_TEXT };

/* of one stream: then another one begins, since lines may each have a type of their own */
#define INLET_TYPES_MAX 1024
#define INLET_TYPES_MAX_BYTES (1u << 20)

/* a window of evread_push(), and a line of any permitted length with its end */
#define INLET_BYTES (EVBLOCK_MAX_BYTES + 64 * 1024)

struct inlet {
	struct inlet_conf conf;
	enum inlet_form form;
	enum evline_form line_form;
	bool is_last, is_known, is_ended, is_skipping; /* is_skipping: the rest of a long line */
	size_t at, n; /* unread bytes in the window */
	uint64_t place; /* bytes of blocks that were taken */
	struct evread *read; /* of INLET_LOG */
	struct evwrite w; /* the stream of this object */
	struct evtypes types;
	size_t types_bytes; /* of their descriptions */
	struct evalone_said said;
	struct evtypes_whole whole;
	struct inlet_report report;
	uint8_t window[INLET_BYTES];
};

/* Drops n bytes at the begin of the window. */
static inline void inlet_drop(struct inlet *i, size_t n)
{
	i->at += n;
	i->n -= n;
}

/* Each returns 1 to continue, 0 if more bytes are needed, or an error. */
int inlet_step_text(struct inlet *i, struct err *e);

/* Writes an event to the stream. One that cannot be written is counted. ERR_NOMEM. */
int inlet_put(struct inlet *i, const struct event *ev, struct err *e);

#endif
