/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of events of the watched processes (omig/event.h), and the interest in each. A type is off
 * in its process while there is none.
 */
#ifndef LM_INSTRUMENT_EVENTS_H
#define LM_INSTRUMENT_EVENTS_H

#include "eventlog/evtype.h"
#include "lm/proc/proc.h"

/* Examines what the process has announced since. How many there are: numbers are below. */
unsigned events_poll(struct proc *p);

/* NULL: no such number, or its definition is invalid. */
const struct evtype *events_type(const struct proc *p, unsigned number);

/* One interest more (1) or less (-1). The process sees it after events_notify(). */
void events_add_interest(struct proc *p, unsigned number, int change);

/*
 * The same for an interest that has no room for it. Without another interest, the process counts
 * each as lost instead of making it.
 */
void events_refuse(struct proc *p, unsigned number, int change);
void events_notify(struct proc *p);

/* Types without an interest are off: those that an earlier lm had switched on. */
void events_settle(struct proc *p);

/* An event came. */
void events_count(struct proc *p, unsigned number);

struct events_figures {
	unsigned interests;
	uint64_t taken, lost;
};
void events_figures(const struct proc *p, unsigned number, struct events_figures *out);

/* The segment is about to go. */
void events_leave(struct proc *p);

#endif
