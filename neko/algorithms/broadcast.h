/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reliable broadcast (Hadzilacos and Toueg, 1994): who hears a message first passes it on to all,
 *then delivers it. Under it a layer sends until it is acknowledged (docs/neko.md), so that neither
 *losses nor partitions that end matter.
 *
 *	broadcast.every   = 100ms   (mean time between two broadcasts of a process, exponential)
 *	broadcast.until   = 10s     (none begins after this; 0: as long as the run)
 *	broadcast.relay   = true    (false: who hears it passes nothing on: not reliable when a
 *sender crashes) broadcast.settle  = 10s     (a message that some process has, and another one not,
 *after that time: agreement is broken) broadcast.network = 1 link.retry        = 100ms   (until a
 *message that is not acknowledged is sent again; doubled up to eight times that) link.give_up = 60s
 *(until whoever does not acknowledge is taken for crashed)
 */
#ifndef NEKO_ALGORITHMS_BROADCAST_H
#define NEKO_ALGORITHMS_BROADCAST_H

#include "neko/core/neko.h"

#define BROADCAST_TYPE 910 /* content: its number, 8 bytes little-endian */
/* messages of the layer below: what it carries, and acknowledgements */
#define BROADCAST_LINK 911

/* Events; content: number of the message, origin * 2^32 + its place among those of its origin. */
#define BROADCAST_SENT "broadcast"
#define BROADCAST_DELIVERED "deliver"

int broadcast_init(struct neko_process *p, struct setup *s, struct err *e);

/*
 * TimeToDeliver: from the broadcast to the last process that is up; delay: to each. Agreement,
 * validity and integrity are looked at.
 */
extern const struct neko_measure broadcast_measure;

/*
 * Sends until it is acknowledged: to one process at a time, so that nothing is lost as long as both
 * are up. What comes may come twice, and in another order. link.retry as above.
 */
int stubborn_init(struct neko_process *p, struct setup *s, struct err *e);

#endif
