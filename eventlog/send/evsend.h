/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends blocks to a receiver in the net (docs/eventlog.md), from a program that must not wait for
 * it. Blocks wait in EVSEND_ROOM_BYTES of memory, and a thread sends them. By TCP they stay there
 * until the receiver has acknowledged them. After a lost connection, also to a receiver that was
 * killed, those without acknowledgement are sent again. By UDP they are sent once. By TLS they go
 * through a process of their own, omig-tunnel: no library of TLS is in the program.
 *
 * A receiver loses and repeats blocks, so each must be readable alone.
 */
#ifndef EVENTLOG_SEND_EVSEND_H
#define EVENTLOG_SEND_EVSEND_H

#include "common/base/clock.h"
#include "eventlog/send/evurl.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct evsend;

/* `to` is of the net. Starts the thread, which looks up the host. ERR_NOMEM, ERR_SYS. */
int evsend_open(const struct evurl *to, struct evsend **out, struct err *e);

/* A caller cuts its blocks at about this size. */
size_t evsend_block_bytes(const struct evsend *s);

/*
 * Puts a block, in n parts. False: there is no room, and the caller counts its events as lost.
 * Signal-safe, never waits. One thread at a time.
 */
bool evsend_put(struct evsend *s, const struct iovec *v, int n);

/*
 * Blocks until all blocks are acknowledged (by UDP: sent), at most for this time. Returns false if
 * some are not. Signal-safe. Any thread.
 */
bool evsend_flush(struct evsend *s, nsec_t max);

#define EVSEND_WHY_BYTES 256

/*
 * Blocks as evsend_flush(), then frees. Returns the events of the blocks that were not
 * acknowledged: the receiver may have them or not. why, unless NULL, gets the reason as ": text",
 * or "" if none is known. NULL is fine.
 */
uint64_t evsend_close(struct evsend *s, nsec_t max, char why[EVSEND_WHY_BYTES]);

/* Writes that reason up to now. Any thread. Returns out. */
const char *evsend_why(struct evsend *s, char out[EVSEND_WHY_BYTES]);

/* In a child process, while no other thread uses s: nothing waits, and a new thread sends. */
void evsend_in_child(struct evsend *s);

#endif
