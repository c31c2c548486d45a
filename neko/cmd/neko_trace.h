/* SPDX-License-Identifier: Apache-2.0 */
/* The messages and events of a run for its picture: the first ones in a span of time. */
#ifndef NEKO_CMD_NEKO_TRACE_H
#define NEKO_CMD_NEKO_TRACE_H

#include "common/json/json.h"
#include "neko/run/run.h"

#define NEKO_TRACE_MAX 1000 /* of each: more are unreadable */
#define NEKO_TRACE_NAMES_MAX 64 /* distinct names of events */

struct trace_message {
	uint32_t from, to;
	nsec_t sent_at, arrived_at; /* -1: lost */
	const char *type;
};

struct trace_event {
	uint32_t process;
	nsec_t at;
	unsigned name;
	double content;
	char *text; /* owned: of a content of bytes; NULL: a number */
};

/* Zero-initialise, then set the span. */
struct neko_trace {
	nsec_t from, until;
	struct trace_message message[NEKO_TRACE_MAX];
	struct trace_event event[NEKO_TRACE_MAX];
	char *name[NEKO_TRACE_NAMES_MAX]; /* owned */
	unsigned nmessage, nevent, nname;
	nsec_t last_at; /* decreasing times belong to the next run, which is not shown */
	bool is_over;
	bool has_lost; /* there were more messages than is known: an empty span may have had some */
};

void neko_trace_message(struct neko_trace *t, const struct sim_step *s);
/* A message of a real run; type: the name of its type, borrowed until neko_trace_json(). */
void neko_trace_delay(struct neko_trace *t, const struct neko_delay *d, const char *type);
void neko_trace_event(struct neko_trace *t, const struct run *r, const struct neko_event *v);
void neko_trace_done(struct neko_trace *t);

/*
 * Writes a member "trace": { "messages": [[from, to, sent, arrived or null, type], ...], "events":
 * [[process, at, what, content], ...] }, times in seconds. Messages are null where they are
 * unknown.
 */
void neko_trace_json(const struct neko_trace *t, struct json *j);

#endif
