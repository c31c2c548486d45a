/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that wait for a receiver: one thread at a time puts, another one takes. Neither waits for
 * the other, and putting is signal-safe. Places are bytes since the ring began.
 */
#ifndef EVENTLOG_SEND_SENDRING_H
#define EVENTLOG_SEND_SENDRING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct sendring {
	uint8_t *p; /* owned; EVSEND_ROOM_BYTES of it */
	_Atomic uint64_t head; /* end of the blocks; release by its writer */
	_Atomic uint64_t tail; /* begin of those that are kept; release by its reader */
};

/* ERR_NOMEM. */
int sendring_init(struct sendring *r);
void sendring_done(struct sendring *r);
void sendring_clear(struct sendring *r); /* while no other thread has it */

/* Puts one block in n parts. False: there is no room. */
bool sendring_put(struct sendring *r, const struct iovec *v, int n);

/* The bytes from there up to `end`, in one or two parts. Returns the number of parts. */
int sendring_bytes(const struct sendring *r, uint64_t from, uint64_t end, struct iovec out[2]);

/* The bytes of the block that begins there, and its events. */
uint32_t sendring_block(const struct sendring *r, uint64_t at, uint32_t *events);

#endif
