/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library of events (libomig-event) and the one in the ranks (libomig) know of each other
 * in one process. Neither needs the other to link or to run: the first looks for
 * omig_app_events_join() among what is loaded. What changes here has another version.
 */
#ifndef COMMON_RING_EVENT_LINK_H
#define COMMON_RING_EVENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_LINK_VERSION 2

/* The interface of libomig to libomig-event, once there is a segment. */
struct event_link {
	/*
	 * A type's definition as event logs have it. Its number from 0, or -1: no place is left.
	 * One thread at a time. What it gives stays until the process ends.
	 */
	int (*announce)(const void *definition, size_t bytes);
	const uint32_t *word; /* by number; not 0: it is requested, and put() */
	uint32_t *bell; /* a futex that changes when words do; both sides may ring */
	/*
	 * A record of an event log, head and all; n 0: one that found no room before. Wait-free,
	 * signal-safe. What finds no room is counted.
	 */
	void (*put)(unsigned number, const void *record, size_t n);
	bool follows_fork; /* a child process may join again, and is then requested itself */
};

/* Called once or twice, from MPI_Init or from the join itself. */
struct event_side {
	unsigned version; /* EVENT_LINK_VERSION */
	void (*on_ready)(const struct event_link *link);
};

/*
 * 0; -1: another one has joined already, or it has another version. A process without MPI is set up
 * here. So is a child process if the link of its parent had follows_fork.
 */
int omig_app_events_join(const struct event_side *side);

#endif
