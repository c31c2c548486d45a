/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_mono() at half the cost, for callers with millions of events. With processor ticks, it adds
 * them to a reading that is at most a millisecond old.
 */
#ifndef NEKO_REAL_QUICKCLOCK_H
#define NEKO_REAL_QUICKCLOCK_H

#include "common/base/clock.h"

/* The error of the clock: the system clock's adjustments and the drift are below 500 ppm each. */
#define QUICKCLOCK_ERROR_NS 1000

struct quickclock {
	struct ticks_scale scale; /* the base is the last reading */
	bool is_quick; /* ticks are cheaper here */
};

/* Blocks for some ms. */
void quickclock_init(struct quickclock *c);

/* Returns the error bound: 0 if it reads the clock each time. */
static inline nsec_t quickclock_error(const struct quickclock *c)
{
	return c->is_quick ? QUICKCLOCK_ERROR_NS : 0;
}

/* May decrease by at most the error bound. */
nsec_t quickclock_now(struct quickclock *c);

#endif
