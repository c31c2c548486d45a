/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of nodes, compared by the messages between them. A message is not received before it is
 * sent: each one bounds the difference of two clocks from one side. Times are never changed.
 */
#ifndef INTERACTION_SET_NETCLOCK_H
#define INTERACTION_SET_NETCLOCK_H

#include "interaction/network.h"

#define NETCLOCK_PAIRS_MAX 65536 /* pairs of nodes that exchange messages */

/* b > a. The difference is the clock of b minus the clock of a, in ns, taken as constant. */
struct netclock_pair {
	uint32_t a, b; /* nodes */
	uint64_t to_b, to_a; /* messages */
	/* those of them that were received before they were sent, by the raw clocks */
	uint64_t backward;
	int64_t least, most; /* bounds; INT64_MIN, INT64_MAX: no message bounds that side */
	bool has_overflow; /* a difference of 2^63 ns and more was left out */
};

struct netclock {
	struct netclock_pair *pair; /* owned */
	size_t n, cap;
	struct map index; /* a << 32 | b -> index + 1 */
};

void netclock_init(struct netclock *c);
void netclock_done(struct netclock *c);

/* Adds all arcs of a built network between two nodes. ERR_LIMIT, ERR_NOMEM. */
int netclock_add(struct netclock *c, const struct network *w, struct err *e);

/* True if some constant difference agrees with all messages of the pair. */
static inline bool netclock_agrees(const struct netclock_pair *p)
{
	return p->least <= p->most;
}

/* Sorts pairs by nodes. */
void netclock_sort(struct netclock *c);

#endif
