/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves blocks from the spool to the destination, in a thread, because archives block. A failed
 * destination is opened again and gets the same blocks again; it stores each block once.
 */
#ifndef TOOLS_RECEIVE_DELIVERY_H
#define TOOLS_RECEIVE_DELIVERY_H

#include "common/loop/loop.h"
#include "eventlog/evbalance.h"
#include "tools/events/monitor_out.h"
#include "tools/receive/receive.h"

struct delivery;

struct delivery_calls {
	struct loop *loop;
	void (*on_done)(void *arg); /* blocks are stored: more may be put */
	void *arg;
};

/* Opens the destination, which must work at the start. Returns an exit status. */
int delivery_open(const struct receive_options *w, const struct delivery_calls *calls,
		  struct delivery **out);

/* The blocks are copied. Only when none are under way. -ERR_NOMEM. */
int delivery_put(struct delivery *d, const uint8_t *p, size_t n);
bool delivery_is_busy(const struct delivery *d);

/* Events since the start, after the last blocks. */
void delivery_totals(struct delivery *d, struct evbalance_totals *out);

/*
 * Counts of the destination monitor, after the last blocks. Returns false for another destination.
 */
bool delivery_monitor(struct delivery *d, struct monitor_out_counts *out);

/* Returns true if the destination fails now and will be retried. */
bool delivery_is_failing(struct delivery *d);

/* Blocks until the thread ends; what it has not stored stays in the spool. NULL is fine. */
void delivery_close(struct delivery *d);

#endif
