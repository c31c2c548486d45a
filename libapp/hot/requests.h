/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open requests whose bytes count later than they are posted. The bytes of receives are known only
 * at completion. Those of persistent requests count at each start. The table has a fixed size and
 * no locks, and all threads share it. A request that does not fit is counted when posted. An entry
 * of a request that no watched call completes stays until its handle is reused.
 */
#ifndef LIBAPP_HOT_REQUESTS_H
#define LIBAPP_HOT_REQUESTS_H

#include "common/ring/posted.h"
#include "libapp/match/receives.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum request_kind {
	REQUEST_FREE,
	REQUEST_RECV, /* counts when complete, then is removed */
	/* persistent, a send or a collective: `bytes` and `bytes_in` count at each start */
	REQUEST_SEND_INIT,
	/* as REQUEST_SEND_INIT; `bytes` count for each partition that is ready */
	REQUEST_PSEND_INIT,
	REQUEST_RECV_INIT, /* persistent: counts at each completion */
	/* without a count: listed as posted, or tracked because waits for it are measured */
	REQUEST_LISTED,
};

/* A wait for a persistent request that is not started returns at once. */
enum request_active { REQUEST_ACTIVE_UNKNOWN, REQUEST_STARTED, REQUEST_IDLE };

struct request {
	uintptr_t key; /* the handle; 0 = free */
	uint32_t kind; /* enum request_kind */
	uint32_t func; /* function whose counters grow */
	uintptr_t comm; /* for the partner of a receive */
	uint32_t generation; /* of comm: see comm_generation() */
	int64_t bytes; /* posted: bytes sent, or the room of a receive */
	uint32_t active; /* of persistent ones: enum request_active */
	int64_t bytes_in; /* of a collective */
	/* REQUEST_RECV: ticks of the posting call, scaled as the delays of its function */
	uint64_t span;
	int64_t partner; /* world rank, -1 if not known when posted */
	int64_t room; /* largest number of bytes to be sent or received: for the list */
	int32_t tag; /* -1 any */
	struct posted_ref open; /* entry in the list, or none */
	/* with HOOK_MESSAGE: the channel of a persistent request, and the place of a receive */
	uint64_t comm_id;
	struct match_ticket ticket;
	int32_t source; /* world rank; -1: not known yet */
	bool has_ticket;
};

/* Returns false if there is no room, or handle is 0. Any thread; wait-free. */
bool request_put(const struct request *r);

/* Drops the entry: the handle is now used for something else. */
void request_drop(uintptr_t handle);

/*
 * Removes the entry; false if there is none. (The entry of a partitioned send stays: while one
 * thread tests it, others mark its partitions. request_put() then only changes its place in the
 * list.) A call that may complete the request takes the entry before. It puts the entry back if the
 * request is not complete. The order matters: once MPI has freed a handle, another thread may get
 * the same one before this one looks.
 */
bool request_take(uintptr_t handle, struct request *out);

/*
 * Copies the constant members of a partitioned send: kind, func, bytes and partner. Returns false
 * if it is not one. Any number of threads may call it for one handle.
 */
bool request_peek(uintptr_t handle, struct request *out);

/* True if the table is certainly empty, which spares the searches. */
bool requests_are_none(void);

/* Tracked requests of one completing call, found before it (it clears handles). */
#define WAIT_SET_MAX 128
/*
 * In every known MPI, this many bytes leave the sender without the receiver's help. A wait for
 * several requests hardly waits for such a send.
 */
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
	/* used in place of ignored ones */
	uint64_t statuses[WAIT_SET_MAX * WAIT_STATUS_BYTES / 8];
};

#pragma GCC visibility pop

#endif
