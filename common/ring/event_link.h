/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the library of events (libomig-event) and the one in the ranks (libomig),
 * in one process. Neither needs the other to link or to run: libomig-event searches the loaded
 * modules for omig_app_events_join(). A change here needs a new EVENT_LINK_VERSION.
 */
#ifndef COMMON_RING_EVENT_LINK_H
#define COMMON_RING_EVENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_LINK_VERSION 2

/* The interface of libomig to libomig-event, valid when the segment exists. */
struct event_link {
	/*
	 * Announces a type by its definition in the format of event logs. Returns its number from
	 * 0, or -1 if the table is full. Called by one thread at a time. The number is valid until
	 * the process ends.
	 */
	int (*announce)(const void *definition, size_t bytes);
	/* by number; not 0: the type is requested, and put() must be called */
	const uint32_t *word;
	uint32_t *bell; /* a futex that changes when words change; both sides may ring it */
	/*
	 * Writes a record in the format of event logs, with its head. n is 0 for a record that was
	 * dropped before. A record without room is counted. Wait-free, signal-safe.
	 */
	void (*put)(unsigned number, const void *record, size_t n);
	bool follows_fork; /* a child process may join again, and then has requests of its own */
};

/* Called once or twice, from MPI_Init or from omig_app_events_join(). */
struct event_side {
	unsigned version; /* EVENT_LINK_VERSION */
	void (*on_ready)(const struct event_link *link);
};

/*
 * Returns 0, or -1 if another library has joined already, or has another version. Sets up a process
 * without MPI, and a child process if its parent's link had follows_fork.
 */
int omig_app_events_join(const struct event_side *side);

/*
 * Writes a record like put(), but does not count a record without room: returns false, and the
 * caller may repeat it. Wait-free.
 */
bool omig_app_event_try(unsigned number, const void *record, size_t n);

#endif
