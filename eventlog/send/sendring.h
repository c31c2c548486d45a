/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that wait for a receiver: one thread at a time puts, another one takes. Neither waits for
 * the other, and putting is signal-safe. Positions count the bytes since the start of the ring.
 */
#ifndef EVENTLOG_SEND_SENDRING_H
#define EVENTLOG_SEND_SENDRING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct sendring {
	uint8_t *p; /* owned; EVSEND_ROOM_BYTES */
	_Atomic uint64_t head; /* end of the blocks; release by the thread that puts */
	_Atomic uint64_t tail; /* begin of the stored blocks; release by the thread that takes */
};

/* Fails with ERR_NOMEM. */
int sendring_init(struct sendring *r);
void sendring_done(struct sendring *r);
void sendring_clear(struct sendring *r); /* called while no other thread uses r */

/* Puts one block in n parts. Returns false without room. */
bool sendring_put(struct sendring *r, const struct iovec *v, int n);

/* Finds the bytes from `from` up to `end`, in one or two parts. Returns the number of parts. */
int sendring_bytes(const struct sendring *r, uint64_t from, uint64_t end, struct iovec out[2]);

/* Returns the length of the block that begins at `at`, and its number of events. */
uint32_t sendring_block(const struct sendring *r, uint64_t at, uint32_t *events);

#endif
