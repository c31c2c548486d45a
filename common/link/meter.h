/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one party may have us read: one allowance over all links of it. A
 * party that sends more is not cut, it is read later. Its links are left
 * unread until time has paid for what came, and the queues fill at its side.
 * A large frame counts as many small ones.
 */
#ifndef COMMON_LINK_METER_H
#define COMMON_LINK_METER_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METER_RATE_MIN 100 /* the largest frame is paid for before a heartbeat is missed */
#define METER_BURST_NS (100 * NSEC_PER_MSEC) /* what may come at once: of that much time */
#define METER_FRAME_BYTES 4096 /* each of these beyond the first counts as one more frame */

struct loop;
struct meter;

/* Counts only, until it has a rate. NULL: no memory. */
struct meter *meter_new(struct loop *loop);

/* After the links that were given it. */
void meter_free(struct meter *m);

/* Frames a second; 0 = as many as come. Below METER_RATE_MIN: that. */
void meter_set_rate(struct meter *m, int64_t per_second);

struct meter_stats {
	uint64_t frames, bytes; /* that were read */
	uint64_t pauses; /* times that reading was put off */
	nsec_t paused; /* in all */
	bool is_paused; /* now */
};

void meter_get_stats(const struct meter *m, struct meter_stats *out);

#endif
