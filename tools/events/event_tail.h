/* SPDX-License-Identifier: Apache-2.0 */
/* Events of running programs for `omig events tail`: requested, fetched and shown. */
#ifndef TOOLS_EVENTS_EVENT_TAIL_H
#define TOOLS_EVENTS_EVENT_TAIL_H

#include "common/base/buf.h"
#include "eventlog/evread.h"
#include "tools/libomis/omis.h"
#include "tools/events/logwrite.h"
#include "tools/session/session_csr.h"

/* Options of the command line. Texts are argv's. */
struct event_tail_options {
	struct cmd_common common;
	char **names;
	const char *where, *job, *to;
	int64_t for_ns, count, reconnect_ns;
	/*
	 * Writes the request of another event, whose $block is passed to on_block(). NULL: the
	 * request of events of programs.
	 */
	void (*write_event)(void *arg, struct buf *b);
	int (*on_block)(void *arg, const char *p, size_t n);
	void *arg;
};

struct event_tail {
	const struct event_tail_options *options;
	char buffer[SESSION_TOKEN_BYTES]; /* "" = none */
	struct session_csr csr;
	Omis_value *tree; /* omig_tree() at the time of the request */
	struct evread *reader;
	struct buf in; /* bytes of blocks that are not read yet */
	struct logwrite *show;
	int copy_to; /* descriptor of the file of --to; -1 = none */
	uint64_t nevent, nlost; /* lost: reported in blocks, or without room in buffers */
	bool is_over;
	int status;
};

/* Requests the events. Returns an exit status and reports failures. */
int event_tail_begin(struct event_tail *f);

/*
 * Fetches available events; *more: there were more than one call fetches. Returns an exit status.
 */
int event_tail_fetch(struct event_tail *f, bool *more);

/* Extends the request to new processes, also on other nodes. Returns an exit status. */
int event_tail_attach(struct event_tail *f);

/*
 * Called after each message: mainsm may have disconnected, returned, or ended the request. Returns
 * an exit status and reports failures.
 */
int event_tail_check(struct event_tail *f);

/*
 * Switches events off, fetches the rest and writes it out. Returns an exit status: the first
 * failure.
 */
int event_tail_end(struct event_tail *f);

#endif
