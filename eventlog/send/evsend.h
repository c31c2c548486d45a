/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends blocks to a receiver in the net (docs/eventlog.md), from a program that must not wait for
 * it. Blocks wait in EVSEND_ROOM_BYTES of memory, and a thread sends them. With TCP they stay there
 * until the receiver has acknowledged them. After the loss of a connection or a restart of the
 * receiver, unacknowledged blocks are sent again. With UDP blocks are sent once. With TLS they pass
 * through another process, omig-tunnel, so that the program contains no TLS library.
 *
 * Blocks may be lost or repeated, so each must be readable alone.
 */
#ifndef EVENTLOG_SEND_EVSEND_H
#define EVENTLOG_SEND_EVSEND_H

#include "common/base/clock.h"
#include "eventlog/send/evurl.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct evsend;

/*
 * `to` is a destination in the net. Starts the thread, which looks up the host. Fails with
 * ERR_NOMEM, ERR_SYS.
 */
int evsend_open(const struct evurl *to, struct evsend **out, struct err *e);

/* Returns the size at which a caller should end its blocks. */
size_t evsend_block_bytes(const struct evsend *s);

/*
 * Puts a block, in n parts. Returns false without room: the caller counts its events as lost.
 * Signal-safe, never waits. One thread at a time.
 */
bool evsend_put(struct evsend *s, const struct iovec *v, int n);

/*
 * Blocks until all blocks are acknowledged (with UDP: sent), at most for this time. Returns false
 * if some are not. Signal-safe. Any thread.
 */
bool evsend_flush(struct evsend *s, nsec_t max);

#define EVSEND_WHY_BYTES 256

/*
 * Blocks like evsend_flush(), then frees s. Returns the number of events in unacknowledged blocks,
 * which the receiver may have or not. why, unless NULL, gets the reason as ": text", or "" if it is
 * unknown. s may be NULL.
 */
uint64_t evsend_close(struct evsend *s, nsec_t max, char why[EVSEND_WHY_BYTES]);

/* Writes the latest such reason. Any thread. Returns out. */
const char *evsend_why(struct evsend *s, char out[EVSEND_WHY_BYTES]);

/*
 * Called in a child process, while no other thread uses s: drops waiting blocks, and starts a new
 * thread.
 */
void evsend_in_child(struct evsend *s);

#endif
