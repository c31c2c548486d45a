/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The destination of a subscription: an archive, or a file. Committed events are stored once, even
 * if a process was killed meanwhile.
 */
#ifndef TOOLS_EVENTS_DESTINATION_H
#define TOOLS_EVENTS_DESTINATION_H

#include "eventlog/evbalance.h"

struct destination;

/*
 * to: archive:PATH, archive:postgresql://..., postgresql://..., file:PATH, PATH. Returns an exit
 * status and reports failures.
 */
int destination_open(const char *to, struct destination **out);

/* Drops uncommitted blocks. NULL is fine. */
void destination_close(struct destination *k);

/*
 * Stores whole blocks; skips those that exist already. Returns an exit status: on failure it can
 * only be closed.
 */
int destination_blocks(struct destination *k, const void *p, size_t n);

/* Commits everything. Returns an exit status. */
int destination_commit(struct destination *k);

/* Returns the balance of all stored events. */
const struct evbalance *destination_balance(const struct destination *k);

/* Returns the number of received bytes that were no blocks. */
uint64_t destination_damaged(const struct destination *k);

/* Returns its name for people, without secrets. */
const char *destination_name(const struct destination *k);

#endif
