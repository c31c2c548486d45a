/* SPDX-License-Identifier: Apache-2.0 */
/* Events of running programs as `omig events tail` has them: requested, fetched and shown. */
#ifndef TOOLS_EVENTS_EVENT_TAIL_H
#define TOOLS_EVENTS_EVENT_TAIL_H

#include "common/base/buf.h"
#include "eventlog/evread.h"
#include "tools/libomis/omis.h"
#include "tools/events/logwrite.h"
#include "tools/session/session_csr.h"

/* What the command line says. Texts are argv's. */
struct event_tail_options {
	struct cmd_common common;
	char **names;
	const char *where, *job, *to;
	int64_t for_ns, count, reconnect_ns;
};

struct event_tail {
	const struct event_tail_options *options;
	char buffer[SESSION_TOKEN_BYTES]; /* "" = none */
	struct session_csr csr;
	Omis_value *tree; /* omig_tree() as it was when the request was made */
	struct evread *reader;
	struct buf in; /* bytes of blocks that the reader has not done with */
	struct logwrite *show;
	int copy_to; /* descriptor of the file of --to; -1 = none */
	uint64_t nevent, nlost; /* lost: reported in blocks, or without room in buffers */
	bool is_over;
	int status;
};

/* Requests the events. Returns an exit status and reports failures. */
int event_tail_begin(struct event_tail *f);

/* Fetches what there is; *more: there was too much for once. An exit status. */
int event_tail_fetch(struct event_tail *f, bool *more);

/* Processes that have come since are asked, too, also on other nodes. An exit status. */
int event_tail_attach(struct event_tail *f);

/*
 * After each message: mainsm may have been lost, come back, or ended the request. Returns an exit
 * status and reports failures.
 */
int event_tail_check(struct event_tail *f);

/* Switches off, fetches what is left, writes it out. An exit status: the first thing that went
 * wrong. */
int event_tail_end(struct event_tail *f);

#endif
