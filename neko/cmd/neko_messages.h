/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --messages: a line for each event, and for each message that was sent, lost or
 * delivered. Lines of a simulation are written at once. Messages of a real run are known at its
 * end. Until then the file has the events only; then it is written again, with all lines by time.
 */
#ifndef NEKO_CMD_NEKO_MESSAGES_H
#define NEKO_CMD_NEKO_MESSAGES_H

#include "neko/run/run.h"

#include <stdio.h>

/* bytes of lines of a real run: ten million events */
#define NEKO_MESSAGES_MAX_BYTES ((size_t)512 << 20)

struct neko_messages {
	FILE *file; /* owned; NULL: not open */
	const char *path; /* borrowed */
	const struct run *run; /* borrowed */
	bool is_real;
	struct buf text; /* owned: lines of a real run, each with a 0 at its end */
	struct neko_messages_line *line; /* owned */
	size_t n, cap;
	/* the file can be written again, so that events are written to it during the run */
	bool is_live;
	bool has_lost; /* lines were dropped for lack of room */
};

/* path NULL: no file is written. Returns an exit status and reports failures. */
int neko_messages_open(struct neko_messages *m, const char *path);

/* Sets the run of the following lines. Called before the first one. */
void neko_messages_begin(struct neko_messages *m, const struct run *r, bool is_real);

/*
 * Writes "0.013 sent 1 > 2 heartbeats.heartbeat 8": time, step, source, destination, network.type,
 * bytes.
 */
void neko_messages_step(struct neko_messages *m, const struct sim_step *t);
/* Writes the same lines for a message of a real run: sent, and delivered or lost. */
void neko_messages_delay(struct neko_messages *m, const struct neko_delay *d);
/* Writes "0.013 event 1 startSuspect 0.5". */
void neko_messages_event(struct neko_messages *m, const struct neko_event *v);

/* Writes the remaining lines and closes the file. Returns an exit status and reports failures. */
int neko_messages_finish(struct neko_messages *m);
void neko_messages_done(struct neko_messages *m);

#endif
