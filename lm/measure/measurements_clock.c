/* SPDX-License-Identifier: Apache-2.0 */
/* The time of the system as measurements see it. */
#include "common/time/timebase.h"
#include "common/loop/loop.h"
#include "lm/measure/measurements_internal.h"

#include <math.h>

nsec_t measurements_now(const struct measurements *r)
{
	return timebase_at(r->conf.timebase, loop_now(r->conf.loop));
}

double measurements_clock_error(const struct measurements *r)
{
	nsec_t e = timebase_error(r->conf.timebase, loop_now(r->conf.loop));

	return e == TIMEBASE_UNKNOWN_NS ? INFINITY : (double)e * 1e-9;
}
