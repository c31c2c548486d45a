/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The destination of a subscription: an archive, or a file. Committed events are there once, also
 * when a process was killed meanwhile.
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

/* What is not committed is forgotten. NULL is fine. */
void destination_close(struct destination *k);

/* Whole blocks; those that are there already are skipped. An exit status: afterwards it can
 * only be closed. */
int destination_blocks(struct destination *k, const void *p, size_t n);

/* All of it is safe. An exit status. */
int destination_commit(struct destination *k);

/* The balance of all stored events. */
const struct evbalance *destination_balance(const struct destination *k);

/* Bytes that came and were no blocks. */
uint64_t destination_damaged(const struct destination *k);

/* What people may see of it. */
const char *destination_name(const struct destination *k);

#endif
