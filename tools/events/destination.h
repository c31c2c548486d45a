/* SPDX-License-Identifier: Apache-2.0 */
/* Where kept events go: an archive, or a file. What is committed is there once, whoever was killed
 * meanwhile. */
#ifndef TOOLS_EVENTS_DESTINATION_H
#define TOOLS_EVENTS_DESTINATION_H

#include "eventlog/evbalance.h"

struct destination;

/* to: archive:PATH, archive:postgresql://..., postgresql://..., file:PATH, PATH. An exit status;
 * what is wrong was told. */
int destination_open(const char *to, struct destination **out);

/* What is not committed is forgotten. NULL is fine. */
void destination_close(struct destination *k);

/* Whole blocks; those that are there already are passed over. An exit status: afterwards it can
 * only be closed. */
int destination_blocks(struct destination *k, const void *p, size_t n);

/* All of it is safe. An exit status. */
int destination_commit(struct destination *k);

/* Of all that is there. */
const struct evbalance *destination_balance(const struct destination *k);

/* Bytes that came and were no blocks. */
uint64_t destination_damaged(const struct destination *k);

/* What people may see of it. */
const char *destination_name(const struct destination *k);

#endif
