/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits how many messages of one user are read: all links of the user share one allowance. A user
 * that sends more is not disconnected, but read later: the links are not read until the allowance
 * is positive again, and the queues fill at the other side. A large frame counts as many small
 * ones.
 */
#ifndef COMMON_LINK_METER_H
#define COMMON_LINK_METER_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* at this rate the largest frame is paid for before a heartbeat is missed */
#define METER_RATE_MIN 100
#define METER_BURST_NS (100 * NSEC_PER_MSEC) /* largest burst: the frames of this time */
#define METER_FRAME_BYTES 4096 /* a frame counts once more for each such part beyond the first */

struct loop;
struct meter;

/* Makes a meter that only counts until it has a rate. Returns NULL without memory. */
struct meter *meter_new(struct loop *loop);

/* Must be called after all links that use it were closed. */
void meter_free(struct meter *m);

/* Sets the frames per second; 0 = no limit; at least METER_RATE_MIN. */
void meter_set_rate(struct meter *m, int64_t per_second);

struct meter_stats {
	uint64_t frames, bytes; /* number of received frames and bytes */
	uint64_t pauses; /* how often reading was paused */
	nsec_t paused; /* sum of all pauses */
	bool is_paused; /* now */
};

void meter_get_stats(const struct meter *m, struct meter_stats *out);

#endif
