/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits how much of one party's messages we read: one allowance over all its links. A party that
 * sends more is not disconnected but read later. Its links are left unread until the allowance is
 * positive again, and the queues fill at its side. A large frame counts as many small ones.
 */
#ifndef COMMON_LINK_METER_H
#define COMMON_LINK_METER_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METER_RATE_MIN 100 /* the largest frame is paid for before a heartbeat is missed */
#define METER_BURST_NS (100 * NSEC_PER_MSEC) /* largest burst: the allowance of this time */
#define METER_FRAME_BYTES 4096 /* a frame counts once more for each such part beyond the first */

struct loop;
struct meter;

/* Counts only, until it has a rate. NULL: no memory. */
struct meter *meter_new(struct loop *loop);

/* Must be called after the links that use it were closed. */
void meter_free(struct meter *m);

/* Sets the frames per second; 0 = no limit. At least METER_RATE_MIN. */
void meter_set_rate(struct meter *m, int64_t per_second);

struct meter_stats {
	uint64_t frames, bytes; /* received */
	uint64_t pauses; /* number of times that reading was paused */
	nsec_t paused; /* in all */
	bool is_paused; /* now */
};

void meter_get_stats(const struct meter *m, struct meter_stats *out);

#endif
