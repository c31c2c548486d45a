/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reliable broadcast (Hadzilacos and Toueg, 1994): the first to receive a message relays it to all,
 * then delivers it. A layer below sends until each process acknowledges (docs/neko.md), so that
 * neither losses nor temporary partitions matter.
 *
 *	broadcast.every   = 100ms   (mean time between two broadcasts of a process, exponential)
 *	broadcast.until   = 10s     (none begins after this; 0: as long as the run)
 *	broadcast.relay   = true    (false: nothing is relayed; unreliable when a sender crashes)
 *	broadcast.settle  = 10s     (agreement is broken when some have a message after that time)
 *	broadcast.network = 1
 *	link.retry        = 100ms   (until the first retry; doubles up to eight times this)
 *	link.give_up      = 60s     (a process that does not acknowledge counts as crashed)
 */
#ifndef NEKO_ALGORITHMS_BROADCAST_H
#define NEKO_ALGORITHMS_BROADCAST_H

#include "neko/core/neko.h"

#define BROADCAST_TYPE 910 /* content: its number, 8 bytes little-endian */
/* messages of the layer below: what it carries, and acknowledgements */
#define BROADCAST_LINK 911

/* Events; content: number of the message, origin * 2^32 + its index among those of its origin. */
#define BROADCAST_SENT "broadcast"
#define BROADCAST_DELIVERED "deliver"

int broadcast_init(struct neko_process *p, struct setup *s, struct err *e);

/*
 * TimeToDeliver: from the broadcast to the last process that is up; delay: to each. Checks
 * agreement, validity and integrity.
 */
extern const struct neko_measure broadcast_measure;

/*
 * Sends until acknowledged, to one process at a time, so that nothing is lost while both are up.
 * Messages may arrive twice, and in another order. link.retry as above.
 */
int stubborn_init(struct neko_process *p, struct setup *s, struct err *e);

#endif
