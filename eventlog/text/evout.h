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
	/* t DATE: ... s EVNT: ... i VAL: 50; f and d are added for floats and doubles */
	EVOUT_LITE,
	EVOUT_XML, /* an element for each event; preserves all kinds */
	EVOUT_JSON, /* an object a line */
	EVOUT_CHROME, /* trace events, for Perfetto and its like */
	EVOUT_OTLP, /* an ExportLogsServiceRequest a line */
	EVOUT_NFORMS
};

/* "ulm", ... -ERR_INVALID for another word. */
int evout_from_name(const char *name, enum evout_form *out);

/* State between two events. */
struct evout {
	enum evout_form form;
	struct buf b;
	uint64_t n; /* events so far */
	uint64_t stream; /* of the one before */
	nsec_t start; /* of the first */
};

/*
 * max_bytes: limit for one event with its head; 64 KB of control characters become 4 times as many,
 * and in JSON 6.
 */
#define EVOUT_MAX_BYTES (1u << 20)

/* begin and end write the text around all events. Afterwards b.failed reports failure. */
void evout_begin(struct evout *o, enum evout_form form);
void evout_event(struct evout *o, const struct event *ev);
void evout_end(struct evout *o);
void evout_done(struct evout *o);

/*
 * All names and values of an event. Constants come first: of the stream (except those that the
 * event overrides) and of the type.
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

/* Returns the first of that name, or NULL. */
const struct evvalue *evattr_find(const struct event *ev, const char *name);

/*
 * Returns the first field that identifies the event's object: guid, id, ID or a name in .id. NULL:
 * none; constants do not count.
 */
const struct evvalue *evattr_find_id(const struct event *ev);

/*
 * Tests fields, constants (of its stream too) or, if none has that name, `event`. A missing one
 * fulfils nothing, not even !=.
 */
bool evattr_fulfil(const struct event *ev, const struct evwhere *w);

/* For evout.c: the JSON forms. */
void evout_json_begin(struct evout *o);
void evout_json_event(struct evout *o, const struct event *ev);
void evout_json_end(struct evout *o);

#endif
