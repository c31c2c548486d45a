/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks of one simulated host: a monotonic one, which goes a little faster or slower than that
 * of the world, and never steps; and a wall clock, which does. And whether what runs there runs: a
 * stopped daemon's clock continues. And what that has allocated.
 */
#ifndef SIM_WORLD_HOSTCLOCK_H
#define SIM_WORLD_HOSTCLOCK_H

#include "common/time/timebase.h"
#include "sim/world/heap.h"
#include "sim/world/world.h"

/* What two of them differ at most by is what the daemons count on (common/time/timebase.h). */
#define HOSTCLOCK_DRIFT_MAX_PPB (TIMEBASE_DRIFT_PPM * 1000 / 2)

struct hostclock {
	struct loop *loop; /* of all that stands on this host; the world's */
	nsec_t step; /* of the wall clock, to be seen from now on */
	const struct heap_account *heap; /* what stands there has allocated; the world's */
};

/* What is opened on the network of the world for that host stands on it. -ERR_NOMEM. */
int hostclock_open(struct world *w, const char *host, struct hostclock *out);

nsec_t hostclock_wall(const struct hostclock *c);

#endif
