/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks that ranks stamp with, in nanoseconds of this host; the scale gets better the longer
 * the lm lives. */
#ifndef LM_PROC_TICKBASE_H
#define LM_PROC_TICKBASE_H

#include "common/base/clock.h"

struct tickbase {
	struct ticks_scale tsc, monotonic;
	uint64_t first_ticks;
	nsec_t first_ns, refined_at;
	bool has_tsc;
};

/* Blocks for 2 ms when there is a TSC. */
void tickbase_init(struct tickbase *t);

/* source: enum ticks_source, as the process says it; an unknown one counts as the monotonic
 * clock. */
const struct ticks_scale *tickbase_scale(struct tickbase *t, uint32_t source);
uint64_t tickbase_now(const struct tickbase *t, uint32_t source);

#endif
