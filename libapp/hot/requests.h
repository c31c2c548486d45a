/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open requests whose bytes count later than they are posted. Those of receives are known only when
 * they complete. Those of persistent requests count each time that they are started. A table
 * without locks, of fixed size, for all threads; what finds no room is counted when posted.
 *
 * An entry of a request that no watched call completes stays until its handle is used again.
 */
#ifndef LIBAPP_HOT_REQUESTS_H
#define LIBAPP_HOT_REQUESTS_H

#include "common/ring/posted.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum request_kind {
	REQUEST_FREE,
	REQUEST_RECV, /* counts when complete, then is gone */
	/* persistent, a send or a collective: `bytes` and `bytes_in` count at each start */
	REQUEST_SEND_INIT,
	REQUEST_PSEND_INIT, /* the same: `bytes` count for each partition that is ready */
	REQUEST_RECV_INIT, /* persistent: counts at each completion */
	/* nothing counts: it is in the list of what is posted, or waits for it are measured */
	REQUEST_LISTED,
};

/* A wait for a persistent request that is not started returns at once. */
enum request_active { REQUEST_ACTIVE_UNKNOWN, REQUEST_STARTED, REQUEST_IDLE };

struct request {
	uintptr_t key; /* the handle; 0 = free */
	uint32_t kind; /* enum request_kind */
	uint32_t func; /* whose figures grow */
	uintptr_t comm; /* for the partner of a receive */
	uint32_t generation; /* of comm: see comm_generation() */
	int64_t bytes; /* posted: what goes out, of receives what they have room for */
	uint32_t active; /* of persistent ones: enum request_active */
	int64_t bytes_in; /* of a collective */
	/* REQUEST_RECV: ticks that posting it took, as the delays of its function have them */
	uint64_t span;
	int64_t partner; /* world rank, -1 not known when posted */
	int64_t room; /* bytes to be sent or received at the most: for the list */
	int32_t tag; /* -1 any */
	struct posted_ref open; /* its entry in the list, or none */
};

/* False: no room, or handle 0. Any thread; wait-free. */
bool request_put(const struct request *r);

/* The handle is used for something else now. */
void request_drop(uintptr_t handle);

/*
 * Takes the entry out; false when there is none. (That of a partitioned send stays: while one
 * thread tests it, others mark its partitions. request_put() of such a one changes its place in the
 * list alone.) A call that may complete the request takes it before and puts it back if it did not:
 * once MPI has freed a handle, another thread may have the same one again before we look.
 */
bool request_take(uintptr_t handle, struct request *out);

/*
 * Of a partitioned send, what never changes: kind, func, bytes and partner. False: it is none. Any
 * number of threads may do so with one handle.
 */
bool request_peek(uintptr_t handle, struct request *out);

/* True when the table is certainly empty: spares the searches. */
bool requests_are_none(void);

/* Tracked requests of one completing call, found before it (it clears handles). */
#define WAIT_SET_MAX 128
/* This many bytes leave the sender without the receiver's help in every MPI that is known here: a
 * wait for several requests hardly waits for such a send. */
#define WAIT_EAGER_BYTES 1024
#define WAIT_STATUS_BYTES 24 /* the largest status of a known MPI */

struct wait_set {
	unsigned n;
	bool has_unknown; /* requests that are not in the table */
	struct wait_entry {
		uint32_t place; /* in the call's array */
		bool has_ended; /* in this call */
		int64_t partner; /* as of the request; of any source as the status has it */
		struct request request; /* taken out of the table */
	} entry[WAIT_SET_MAX];
	uint64_t statuses[WAIT_SET_MAX * WAIT_STATUS_BYTES / 8]; /* in place of ignored ones */
};

#pragma GCC visibility pop

#endif
