/* SPDX-License-Identifier: Apache-2.0 */
/* Events written as other tools read them, onto a struct buf that the caller empties between two
 * events. */
#ifndef EVENTLOG_TEXT_EVOUT_H
#define EVENTLOG_TEXT_EVOUT_H

#include "eventlog/evread.h"
#include "eventlog/evwhere.h"

enum evout_form {
	EVOUT_ULM, /* DATE= HOST= PROG= LVL= NL.EVNT= name=value ... */
	EVOUT_BP, /* ts= event= level= name=value ... */
	/* t DATE: ... s EVNT: ... i VAL: 50; f and d are added for floats and doubles */
	EVOUT_LITE,
	EVOUT_XML, /* an element for each event; all kinds stay known */
	EVOUT_JSON, /* an object a line */
	EVOUT_CHROME, /* trace events, for Perfetto and its like */
	EVOUT_OTLP, /* an ExportLogsServiceRequest a line */
	EVOUT_NFORMS
};

/* "ulm", ... -ERR_INVALID for another word. */
int evout_from_name(const char *name, enum evout_form *out);

/* What is remembered between two events. */
struct evout {
	enum evout_form form;
	struct buf b;
	uint64_t n; /* events so far */
	uint64_t stream; /* of the one before */
	nsec_t start; /* of the first */
};

/* max_bytes: that one event with its head may have; 64 KB of controls become 4 times as many, and
 * in JSON 6. */
#define EVOUT_MAX_BYTES (1u << 20)

/* begin and end write what stands around all events. Afterwards b.failed says whether that
 * failed. */
void evout_begin(struct evout *o, enum evout_form form);
void evout_event(struct evout *o, const struct event *ev);
void evout_end(struct evout *o);
void evout_done(struct evout *o);

/* All names and values of an event. Constants come first: of the stream (but those that the
 * event has itself) and of the type. */
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

/* The first of that name, or NULL. */
const struct evvalue *evattr_find(const struct event *ev, const char *name);

/* The first field that says whose event it is: guid, id, ID or a name in .id. NULL: none, constants
 * do not. */
const struct evvalue *evattr_find_id(const struct event *ev);

/* Fields, constants (of its stream too) or, when none is called so, `event`. One that is not there
 * fulfils nothing, != too. */
bool evattr_fulfil(const struct event *ev, const struct evwhere *w);

/* For evout.c: the forms that are JSON. */
void evout_json_begin(struct evout *o);
void evout_json_event(struct evout *o, const struct event *ev);
void evout_json_end(struct evout *o);

#endif
