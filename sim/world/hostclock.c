/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/hostclock.h"

#include "sim/world/clock.h"

int hostclock_open(struct world *w, const char *host, struct hostclock *out)
{
	struct loop *part = loop_new_part(w->loop);
	struct heap_account *heap = world_account(w, host);

	if (!part || !heap || mem_net_set_loop(w->net, host, part))
		return -ERR_NOMEM;
	loop_part_set_maker(part, heap);
	loop_part_set_rate(part, (int64_t)world_random(w, 2 * HOSTCLOCK_DRIFT_MAX_PPB + 1) -
					 HOSTCLOCK_DRIFT_MAX_PPB);
	*out = (struct hostclock){ .loop = part, .heap = heap };
	return 0;
}

nsec_t hostclock_wall(const struct hostclock *c)
{
	return SIM_WALL_START_NS + loop_now(c->loop) + c->step;
}
