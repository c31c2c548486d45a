/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes events in the formats of other tools, to a struct buf that the caller empties between two
 * events.
 */
#ifndef EVENTLOG_TEXT_EVOUT_H
#define EVENTLOG_TEXT_EVOUT_H

#include "eventlog/evread.h"
#include "eventlog/evwhere.h"

enum evout_form {
	EVOUT_ULM, /* DATE= HOST= PROG= LVL= NL.EVNT= name=value ... */
	EVOUT_BP, /* ts= event= level= name=value ... */
	/* t DATE: ... s EVNT: ... i VAL: 50; f and d mark floats and doubles, as an extension */
	EVOUT_LITE,
	EVOUT_XML, /* an element for each event; preserves all kinds */
	EVOUT_JSON, /* an object per line */
	EVOUT_CHROME, /* trace events, for Perfetto and similar viewers */
	EVOUT_OTLP, /* an ExportLogsServiceRequest per line */
	EVOUT_NFORMS
};

/* Returns the form for "ulm" and so on. Fails with ERR_INVALID for another word. */
int evout_from_name(const char *name, enum evout_form *out);

/* State of a writer between two events. */
struct evout {
	enum evout_form form;
	struct buf b;
	uint64_t n; /* number of events so far */
	uint64_t stream; /* stream of the previous event */
	nsec_t start; /* time of the first event */
};

/*
 * Limit for one event with its head. 64 KB of control characters become 4 times as many bytes, and
 * 6 times in JSON.
 */
#define EVOUT_MAX_BYTES (1u << 20)

/*
 * evout_begin() and evout_end() write the text around all events. Afterwards b.failed reports a
 * failure.
 */
void evout_begin(struct evout *o, enum evout_form form);
void evout_event(struct evout *o, const struct event *ev);
void evout_end(struct evout *o);
void evout_done(struct evout *o);

/*
 * All names and values of an event. Constants come first: those of the stream, except where the
 * event has the same name, then those of the type.
 */
struct evattr {
	const char *name;
	const struct evvalue *value;
	bool is_constant;
};
struct evattr_iter {
	const struct event *ev;
	unsigned at;
};
bool evattr_next(struct evattr_iter *i, struct evattr *out);

/* Returns the first value of that name, or NULL. */
const struct evvalue *evattr_find(const struct event *ev, const char *name);

/*
 * Returns the first field that identifies the event's object: guid, id, ID or a name in .id.
 * Returns NULL if there is none. Constants do not count.
 */
const struct evvalue *evattr_find_id(const struct event *ev);

/*
 * Tests fields, constants (also those of the stream), or, if none has that name, `event`. A missing
 * field fulfils no comparison, not even !=.
 */
bool evattr_fulfil(const struct event *ev, const struct evwhere *w);

/* For evout.c: the formats in JSON. */
void evout_json_begin(struct evout *o);
void evout_json_event(struct evout *o, const struct event *ev);
void evout_json_end(struct evout *o);

#endif
