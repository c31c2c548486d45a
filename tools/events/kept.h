/* SPDX-License-Identifier: Apache-2.0 */
/* Where kept events go: an archive, or a file. What is committed is there once, whoever was killed
 * meanwhile. */
#ifndef TOOLS_KEPT_H
#define TOOLS_KEPT_H

#include "eventlog/evbalance.h"

struct kept;

/* to: archive:PATH, archive:postgresql://..., postgresql://..., file:PATH, PATH. An exit status;
 * what is wrong was told. */
int kept_open(const char *to, struct kept **out);

/* What is not committed is forgotten. NULL is fine. */
void kept_close(struct kept *k);

/* Whole blocks; those that are there already are passed over. An exit status: afterwards it can
 * only be closed. */
int kept_blocks(struct kept *k, const void *p, size_t n);

/* All of it is safe. An exit status. */
int kept_commit(struct kept *k);

/* Of all that is there. */
const struct evbalance *kept_balance(const struct kept *k);

/* Bytes that came and were no blocks. */
uint64_t kept_damaged(const struct kept *k);

/* What people may see of it. */
const char *kept_name(const struct kept *k);

#endif
