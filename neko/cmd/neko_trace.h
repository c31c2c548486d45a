/* SPDX-License-Identifier: Apache-2.0 */
/* The first messages and events in a time span of a run, for its picture. */
#ifndef NEKO_CMD_NEKO_TRACE_H
#define NEKO_CMD_NEKO_TRACE_H

#include "common/json/json.h"
#include "neko/run/run.h"

#define NEKO_TRACE_MAX 1000 /* messages, and events: a picture of more is unreadable */
#define NEKO_TRACE_NAMES_MAX 64 /* distinct names of events */

struct trace_message {
	uint32_t from, to;
	nsec_t sent_at, arrived_at; /* arrived_at is -1 for a lost message */
	const char *type;
};

struct trace_event {
	uint32_t process;
	nsec_t at;
	unsigned name;
	double content;
	char *text; /* owned: content as text; NULL: the content is a number */
};

/* Zero-initialise, then set the time span. */
struct neko_trace {
	nsec_t from, until;
	struct trace_message message[NEKO_TRACE_MAX];
	struct trace_event event[NEKO_TRACE_MAX];
	char *name[NEKO_TRACE_NAMES_MAX]; /* owned */
	unsigned nmessage, nevent, nname;
	/* time of the last event: an earlier one belongs to the next run, which is not drawn */
	nsec_t last_at;
	bool is_over;
	/* the run had more messages than the list: an empty span may have had some */
	bool has_lost;
};

void neko_trace_message(struct neko_trace *t, const struct sim_step *s);
/* Adds a message of a real run. type: name of its type, borrowed until neko_trace_json(). */
void neko_trace_delay(struct neko_trace *t, const struct neko_delay *d, const char *type);
void neko_trace_event(struct neko_trace *t, const struct run *r, const struct neko_event *v);
void neko_trace_done(struct neko_trace *t);

/*
 * Writes a member "trace": { "messages": [[from, to, sent, arrived or null, type], ...], "events":
 * [[process, at, what, content], ...] }, times in seconds. The member "messages" is null if
 * messages are unknown.
 */
void neko_trace_json(const struct neko_trace *t, struct json *j);

#endif
