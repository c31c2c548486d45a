/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks of one simulated host: a monotonic one, which never steps, and a wall clock, which
 * does. The monotonic clock runs a little faster or slower than that of the world. The struct also
 * has the host's loop, whose clock continues while a daemon is stopped, and its memory account.
 */
#ifndef SIM_WORLD_HOSTCLOCK_H
#define SIM_WORLD_HOSTCLOCK_H

#include "common/time/timebase.h"
#include "sim/world/heap.h"
#include "sim/world/world.h"

/*
 * The largest difference of two clocks is the drift that daemons assume (common/time/timebase.h).
 */
#define HOSTCLOCK_DRIFT_MAX_PPB (TIMEBASE_DRIFT_PPM * 1000 / 2)

struct hostclock {
	struct loop *loop; /* loop of all daemons on the host; borrowed from the world */
	nsec_t step; /* offset of the wall clock, in effect from now on */
	/* memory of the daemons on the host; borrowed from the world */
	const struct heap_account *heap;
};

/* Channels that are opened later for that host use its clock. Fails with ERR_NOMEM. */
int hostclock_open(struct world *w, const char *host, struct hostclock *out);

nsec_t hostclock_wall(const struct hostclock *c);

#endif
