/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_mono() at half the cost, for callers with millions of events. If the processor has usable
 * ticks, it adds them to a reading that is at most a millisecond old.
 */
#ifndef NEKO_REAL_QUICKCLOCK_H
#define NEKO_REAL_QUICKCLOCK_H

#include "common/base/clock.h"

/* The error of the clock: adjustments and drift of the system's clock are below 500 ppm each. */
#define QUICKCLOCK_ERROR_NS 1000

struct quickclock {
	struct ticks_scale scale; /* its base is the last reading */
	bool is_quick; /* ticks are usable and cheaper */
};

/* Blocks for some milliseconds. */
void quickclock_init(struct quickclock *c);

/* Returns the error bound, which is 0 without ticks. */
static inline nsec_t quickclock_error(const struct quickclock *c)
{
	return c->is_quick ? QUICKCLOCK_ERROR_NS : 0;
}

/* The result may be below an earlier one, by at most the error bound. */
nsec_t quickclock_now(struct quickclock *c);

#endif
