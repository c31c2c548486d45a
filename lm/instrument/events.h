/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of events of the watched processes (omig/event.h), and the interests in each. A type
 * without an interest is off in its process.
 */
#ifndef LM_INSTRUMENT_EVENTS_H
#define LM_INSTRUMENT_EVENTS_H

#include "eventlog/evtype.h"
#include "lm/proc/proc.h"

/* Reads the types that the process has announced since. Returns the number of types. */
unsigned events_poll(struct proc *p);

/* Returns NULL if there is no such number, or its definition is invalid. */
const struct evtype *events_type(const struct proc *p, unsigned number);

/* Adds (1) or removes (-1) an interest. Takes effect with events_notify(). */
void events_add_interest(struct proc *p, unsigned number, int change);

/*
 * The same for an interest without room for the events. If there is no other interest, the process
 * only counts each event as lost.
 */
void events_refuse(struct proc *p, unsigned number, int change);
void events_notify(struct proc *p);

/* Switches off types without an interest, which an earlier lm had switched on. */
void events_settle(struct proc *p);

/* Counts an event. */
void events_count(struct proc *p, unsigned number);

struct events_figures {
	unsigned interests;
	uint64_t taken, lost;
};
void events_figures(const struct proc *p, unsigned number, struct events_figures *out);

/* Called before the segment is unmapped. */
void events_leave(struct proc *p);

#endif
