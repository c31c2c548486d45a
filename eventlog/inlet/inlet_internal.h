/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room. */
#ifndef EVENTLOG_INLET_INLET_INTERNAL_H
#define EVENTLOG_INLET_INLET_INTERNAL_H

#include "eventlog/evread.h"
#include "eventlog/evwrite.h"
#include "eventlog/inlet/inlet.h"
#include "eventlog/text/evalone.h"

enum inlet_form { INLET_UNKNOWN, INLET_BLOCKS, INLET_LOG, INLET_TEXT };

/* types of one stream, after which another one begins: each line may have a new type */
#define INLET_TYPES_MAX 1024
#define INLET_TYPES_MAX_BYTES (1u << 20)

/* a window of evread_push(), and a line of any permitted length */
#define INLET_BYTES (EVBLOCK_MAX_BYTES + 64 * 1024)

struct inlet {
	struct inlet_conf conf;
	enum inlet_form form;
	enum evline_form line_form;
	/* is_skipping: the rest of a long line is skipped */
	bool is_last, is_known, is_ended, is_skipping;
	size_t at, n; /* unread bytes in the window */
	uint64_t place; /* offset in the connection of the end of the blocks that were taken */
	struct evread *read; /* for INLET_LOG */
	struct evwrite w; /* the stream of this inlet */
	struct evtypes types;
	size_t types_bytes; /* bytes of descriptions of the stream's types */
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

/* Return 1 to continue, 0 if more bytes are needed, or an error. */
int inlet_step_text(struct inlet *i, struct err *e);

/*
 * Writes an event to the stream. An event that cannot be written is counted. Fails with ERR_NOMEM.
 */
int inlet_put(struct inlet *i, const struct event *ev, struct err *e);

#endif
