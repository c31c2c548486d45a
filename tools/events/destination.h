/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The destination of a subscription: an archive, or a file. Committed events are stored once, even
 * if a process was killed meanwhile.
 */
#ifndef TOOLS_EVENTS_DESTINATION_H
#define TOOLS_EVENTS_DESTINATION_H

#include "eventlog/evbalance.h"

#include <stdbool.h>

struct destination;

/* Events of the monitor (monitor_out.h). */
#define DESTINATION_MONITOR "monitor"

/* Returns the part of `to` behind archive:, file:// or file:, else the whole text. */
const char *destination_place(const char *to);

/*
 * to: archive:PATH, archive:postgresql://..., postgresql://..., x-netlog://HOST:PORT,
 * file:///PATH, file:PATH, PATH. Returns an exit status and reports failures.
 */
int destination_open(const char *to, struct destination **out);

/*
 * As destination_open(), for a file that was rotated to PATH.1, PATH.2 ... PATH.older. Blocks of
 * these files are recognised when they are repeated.
 */
int destination_open_rotated(const char *to, unsigned older, struct destination **out);

/*
 * Rotates a file whose blocks are committed: it becomes PATH.1, PATH.1 becomes PATH.2, and so on.
 * PATH.older is removed. An empty file begins. Returns an exit status, as destination_blocks().
 */
int destination_rotate(struct destination *k, unsigned older);

/*
 * True if the destination is a file, so that it can be rotated. *bytes is then the size of the
 * file.
 */
bool destination_is_file(const struct destination *k, uint64_t *bytes);

/* Drops uncommitted blocks. NULL is fine. */
void destination_close(struct destination *k);

/*
 * Stores whole blocks; skips those that exist already. Returns an exit status. After a failure the
 * destination can only be closed.
 */
int destination_blocks(struct destination *k, const void *p, size_t n);

/*
 * Commits everything. Returns an exit status: CMD_TIMEOUT if a receiver in the net has not
 * acknowledged everything within some seconds.
 */
int destination_commit(struct destination *k);

/* Returns the balance of all stored events. */
const struct evbalance *destination_balance(const struct destination *k);

struct monitor_out;

/* Returns the writer of events into the monitor; NULL for another destination. */
const struct monitor_out *destination_monitor(const struct destination *k);

/* Returns the number of received bytes that were no blocks. */
uint64_t destination_damaged(const struct destination *k);

/* Returns the name of the destination for messages, without secrets. */
const char *destination_name(const struct destination *k);

#endif
