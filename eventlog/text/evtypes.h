/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns numbers to event types: equal descriptions get the same number. */
#ifndef EVENTLOG_TEXT_EVTYPES_H
#define EVENTLOG_TEXT_EVTYPES_H

#include "common/container/map.h"
#include "eventlog/evtype.h"
#include "eventlog/evread.h"

struct evtypes {
	struct map known; /* hash of a description -> struct evtypes_one *, owned */
	struct hash_key key;
	unsigned n; /* numbers 1..n are in use */
	unsigned max; /* largest number: EV_TYPE_LAST, which the owner may lower */
	struct buf scratch;
};

void evtypes_init(struct evtypes *t);
void evtypes_done(struct evtypes *t);

/*
 * Returns the number of an event's type. *is_new: it was not known before. Constants of the event's
 * stream, if there are any, count as a part of the type. Fails with ERR_LIMIT if max others are
 * known, and with ERR_NOMEM.
 */
int evtypes_number(struct evtypes *t, const struct event *ev, unsigned *out, bool *is_new,
		   struct err *e);

/* A type that can be used in another stream: the constants of its own stream precede its own. */
struct evtypes_whole {
	struct evtype type;
	struct evconst constant[EV_FIELDS_MAX];
};

/* Valid as long as the event and w. Returns NULL for too many constants. */
const struct evtype *evtypes_whole(struct evtypes_whole *w, const struct event *ev);

#endif
