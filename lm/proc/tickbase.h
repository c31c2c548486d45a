/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the clocks of ranks to nanoseconds of this host. The scale improves with the age of the
 * lm.
 */
#ifndef LM_PROC_TICKBASE_H
#define LM_PROC_TICKBASE_H

#include "common/base/clock.h"

struct tickbase {
	struct ticks_scale tsc, monotonic;
	uint64_t first_ticks;
	nsec_t first_ns, refined_at;
	bool has_tsc;
};

/* Blocks for 2 ms if there is a TSC. */
void tickbase_init(struct tickbase *t);

/*
 * source: enum ticks_source, as the process wrote it; an unknown one counts as the monotonic clock.
 */
const struct ticks_scale *tickbase_scale(struct tickbase *t, uint32_t source);
uint64_t tickbase_now(const struct tickbase *t, uint32_t source);

#endif
