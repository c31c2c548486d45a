/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/real/quickclock.h"

#define FRESH_NS NSEC_PER_MSEC
#define CALIBRATION_NS (5 * NSEC_PER_MSEC) /* errors of 100 ns in two readings make 40 ppm */

void quickclock_init(struct quickclock *c)
{
	c->is_quick = ticks_source_best() == TICKS_TSC &&
		      !ticks_calibrate(&c->scale, TICKS_TSC, CALIBRATION_NS);
}

/* Ticks before the last reading also make a huge difference, and cause a new reading. */
nsec_t quickclock_now(struct quickclock *c)
{
	nsec_t since;

	if (!c->is_quick)
		return clock_mono();
	since = ticks_delta_to_nsec(&c->scale, ticks_now(TICKS_TSC) - c->scale.base_ticks);
	if (since <= FRESH_NS)
		return c->scale.base_ns + since;
	ticks_sample(TICKS_TSC, &c->scale.base_ticks, &c->scale.base_ns);
	return c->scale.base_ns;
}
