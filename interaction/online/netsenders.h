/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of batches by sender: each batch counts once, and lost ones are counted. */
#ifndef INTERACTION_ONLINE_NETSENDERS_H
#define INTERACTION_ONLINE_NETSENDERS_H

#include "common/container/map.h"
#include "interaction/online/netarc.h"

struct netsenders {
	struct map by_id;
	struct netsender **sender; /* owned */
	size_t n, cap;
	uint64_t repeated;
};

void netsenders_init(struct netsenders *s);
void netsenders_done(struct netsenders *s);

/* Returns 1 for a new batch, and 0 if it has, or may have, arrived before. ERR_LIMIT, ERR_NOMEM. */
int netsenders_take(struct netsenders *s, const struct netarc_head *h, struct netsender **out);

/* Notes how many arcs the batch had. */
void netsenders_count(struct netsender *s, const struct netarc_head *h, uint64_t arcs);

struct netsenders_losses {
	uint64_t batches, arcs; /* on the way */
	uint64_t events; /* that senders report */
};
struct netsenders_losses netsenders_losses(const struct netsenders *s);

#endif
