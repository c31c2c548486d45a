/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_mono(), for who asks it for each of millions of events: where ticks are the processor's,
 * these are counted from a reading that is a millisecond old at the most, which takes half of the
 * time.
 */
#ifndef NEKO_REAL_QUICKCLOCK_H
#define NEKO_REAL_QUICKCLOCK_H

#include "common/base/clock.h"

/* What it errs: nobody makes the system's clock go faster or slower by more than 500 ppm, and ours
 * is as far off at the most. */
#define QUICKCLOCK_ERROR_NS 1000

struct quickclock {
	struct ticks_scale scale; /* its base is the last reading */
	bool is_quick; /* else ticks are not cheaper here */
};

/* Blocks for some ms. */
void quickclock_init(struct quickclock *c);

/* What it may err: 0 where it reads the clock each time. */
static inline nsec_t quickclock_error(const struct quickclock *c)
{
	return c->is_quick ? QUICKCLOCK_ERROR_NS : 0;
}

/* May go back by what it errs. */
nsec_t quickclock_now(struct quickclock *c);

#endif
