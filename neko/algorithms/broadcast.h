/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reliable broadcast (Hadzilacos and Toueg, 1994): a process relays each message to all when it
 * first receives it, and then delivers it. A layer below repeats each message until all processes
 * acknowledge it (docs/neko.md). So losses and temporary partitions have no effect.
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
/* messages of the layer below: carried messages and acknowledgements */
#define BROADCAST_LINK 911

/*
 * Events. Their content is the number of a message: origin * 2^32 + its index among the origin's
 * messages.
 */
#define BROADCAST_SENT "broadcast"
#define BROADCAST_DELIVERED "deliver"

int broadcast_init(struct neko_process *p, struct setup *s, struct err *e);

/*
 * TimeToDeliver: time from the broadcast to the last process that is up. delay: time to each
 * process. Checks agreement, validity and integrity.
 */
extern const struct neko_measure broadcast_measure;

/*
 * Repeats a message to each process until it is acknowledged, so that no message between living
 * processes is lost. Messages may arrive twice, and in another order. The key link.retry is
 * described above.
 */
int stubborn_init(struct neko_process *p, struct setup *s, struct err *e);

#endif
