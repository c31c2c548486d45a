/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of programs in the net as events of the monitor. This process must be a watched one
 * (`omig run`): it writes the events into its ring, as omig/event.h does, and subscriptions of the
 * monitor get them. The process is the receiver's, so nothing shows them as events of a rank. The
 * fields origin.host, origin.program, origin.pid and origin.time_ns are those of the sender.
 * origin.more has its other constants, as a line of names and values.
 *
 * The time of an event is that of its arrival here. An event that no subscription requests is
 * counted. For an event without room, the caller must retry.
 */
#ifndef TOOLS_EVENTS_MONITOR_OUT_H
#define TOOLS_EVENTS_MONITOR_OUT_H

#include "eventlog/evblock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct monitor_out;

/* ERR_UNSUPPORTED: this process is not watched. ERR_NOMEM. A process has at most one. */
int monitor_out_open(struct monitor_out **out, struct err *e);
void monitor_out_close(struct monitor_out *m);

/* True if monitor_out_open() would find the library in this process. */
bool monitor_out_is_watched(void);

/*
 * Puts all events of a good block that can be read alone. ERR_TIMEOUT: there was no room for the
 * rest within half a second; the same block, at the same place, continues with the next call.
 * ERR_NOMEM.
 */
int monitor_out_block(struct monitor_out *m, const uint8_t *p, const struct evblock *head,
		      struct err *e);

/* Puts the event received.lost: so many events have not arrived since the last call. As above. */
int monitor_out_lost(struct monitor_out *m, uint64_t events, struct err *e);

struct monitor_out_counts {
	uint64_t unrequested; /* no subscription requested them */
	uint64_t left_out; /* too long for a ring, or of a type above SEG_EVENTS */
};

void monitor_out_counts(const struct monitor_out *m, struct monitor_out_counts *out);

#endif
