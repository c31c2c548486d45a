/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "sim/clock.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int enter(struct world *w, const char *disk, struct err *e)
{
	w->back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return w->back < 0 || chdir(disk) < 0 ? err_sys(e, "%s", disk) : 0;
}

static void come_back(struct world *w)
{
	if (w->back >= 0 && fchdir(w->back) < 0)
		log_error("sim", "the folder from before is not there any more: %m");
	if (w->back >= 0)
		close(w->back);
	w->back = -1;
}

int world_open(struct world *w, uint64_t seed, const char *disk, struct err *e)
{
	*w = (struct world){ .loop = loop_new_virtual(), .back = -1 };
	if (!w->loop)
		return err_nomem(e);
	if (disk && enter(w, disk, e) < 0) {
		world_close(w);
		return -ERR_SYS;
	}
	simclock_enter(w->loop, seed);
	rng_init(&w->dice, seed);
	w->net = mem_net_new(w->loop, rng_next(&w->dice));
	if (!w->net) {
		world_close(w);
		return err_nomem(e);
	}
	mem_net_set_wall(w->net, world_wall, w);
	trace_begin(&w->trace, w->loop);
	return 0;
}

void world_close(struct world *w)
{
	if (w->loop)
		loop_turn(w->loop);
	mem_net_free(w->net);
	loop_free(w->loop);
	trace_begin(NULL, NULL);
	simclock_enter(NULL, 0);
	come_back(w);
	w->net = NULL;
	w->loop = NULL;
}

bool world_one_in(struct world *w, uint64_t n)
{
	return rng_below(&w->dice, n) == 0;
}

nsec_t world_random(struct world *w, nsec_t max)
{
	return max > 0 ? (nsec_t)rng_below(&w->dice, (uint64_t)max) : 0;
}

void world_break(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->broken[0])
		return;
	va_start(ap, fmt);
	vsnprintf(w->broken, sizeof(w->broken), fmt, ap);
	va_end(ap);
	w->broken_at = loop_now(w->loop);
	loop_stop(w->loop);
}

struct identity world_identity(struct world *w, enum role role, const char *site, const char *host)
{
	struct identity id = { .role = role, .wall_not_after = INT64_MAX };

	w->serial++;
	memcpy(id.serial, &w->serial, sizeof(w->serial));
	str_copy(id.site, sizeof(id.site), site);
	str_copy(id.host, sizeof(id.host), host);
	return id;
}

nsec_t world_wall(void *arg)
{
	const struct world *w = arg;

	return SIM_WALL_START_NS + loop_now(w->loop);
}
