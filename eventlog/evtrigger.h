/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trigger file (NetLogger paper, section 5) selects the events that are on, with an end,
 * conditions and a destination. A line is
 *
 *	PATTERN [level=LEVEL] [until=TIME] [to=URL] [where FIELD OP VALUE [and FIELD OP VALUE]...]
 *
 * The first line whose pattern fits an event decides. evtrigger_read() may block in the file
 * system; evtrigger_switch() and evtrigger_find() do not block. The caller serialises all calls on
 * one trigger, except that evtrigger_read() may run beside evtrigger_find().
 */
#ifndef EVENTLOG_EVTRIGGER_H
#define EVENTLOG_EVTRIGGER_H

#include "common/base/clock.h"
#include "eventlog/evwhere.h"

#define EVTRIGGER_INTERVAL_MAX_S 86400 /* a day: a trigger that is read less often is useless */

struct evtrigger;

struct evtrigger_entry {
	char *pattern; /* part of the file's text; a * at the end matches any rest of a name */
	char *to; /* destination; NULL: the destination without a trigger */
	unsigned level; /* events up to this level are on */
	nsec_t until; /* wall time; INT64_MAX = no end */
	struct evwhere where;
};

/*
 * interval: evtrigger_read() reads the file at most once in this time; 0 = at each call. Returns
 * NULL without memory.
 */
struct evtrigger *evtrigger_new(const char *path, nsec_t interval);
void evtrigger_free(struct evtrigger *t);

/*
 * Reads the file if the interval has passed and the file has changed. The entries apply from the
 * next evtrigger_switch() on.
 */
void evtrigger_read(struct evtrigger *t, nsec_t wall);

/*
 * Applies the entries that were read last. Returns true if an event may have been switched, by them
 * or by an `until` that has passed.
 */
bool evtrigger_switch(struct evtrigger *t, nsec_t wall);

/* Calls evtrigger_read(), then evtrigger_switch(), and returns its result. */
bool evtrigger_look(struct evtrigger *t, nsec_t wall);

/*
 * Returns the entry that decides on events of this name; NULL if they are off. Valid until the next
 * switch.
 */
const struct evtrigger_entry *evtrigger_find(const struct evtrigger *t, const char *name,
					     nsec_t wall);

#endif
