/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/world.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "sim/world/clock.h"
#include "sim/world/heap.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int enter_disk(struct world *w, struct err *e)
{
	int rc = disk_make(w->disk, e);

	if (rc) {
		w->disk[0] = 0;
		return rc;
	}
	w->back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return w->back < 0 || chdir(w->disk) < 0 ? err_sys(e, "%s", w->disk) : 0;
}

static void come_back(struct world *w)
{
	if (w->back >= 0 && fchdir(w->back) < 0)
		log_error("sim", "cannot return to the previous working folder: %m");
	if (w->back >= 0)
		close(w->back);
	w->back = -1;
	if (w->disk[0])
		disk_remove(w->disk);
	w->disk[0] = 0;
}

struct host_account {
	struct heap_account heap; /* must be the first member */
	struct list at; /* entry of world.accounts */
	char host[];
};

int world_open(struct world *w, uint64_t seed, bool with_disks, struct err *e)
{
	*w = (struct world){ .loop = loop_new_virtual(), .back = -1 };
	list_init(&w->accounts);
	if (!w->loop)
		return err_nomem(e);
	heap_watch(w->loop);
	if (with_disks && enter_disk(w, e)) {
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

struct heap_account *world_account(struct world *w, const char *host)
{
	size_t n = strlen(host) + 1;
	struct host_account *a = calloc(1, sizeof(*a) + n);

	if (!a)
		return NULL;
	memcpy(a->host, host, n);
	list_push_back(&w->accounts, &a->at);
	return &a->heap;
}

static void close_accounts(struct world *w)
{
	struct list *item;

	while ((item = list_pop_front(&w->accounts))) {
		struct host_account *a = list_entry(item, struct host_account, at);

		if (heap_is_watched() && a->heap.bytes)
			world_break(
				w,
				"INV-45: all daemons have ended, but %zu bytes allocated by %s were never freed",
				a->heap.bytes, a->host);
		free(a);
	}
}

void world_close(struct world *w)
{
	if (w->loop)
		loop_turn(w->loop);
	if (w->loop && !w->broken[0])
		/* time of violations that are reported from now on */
		w->broken_at = loop_now(w->loop);
	mem_net_free(w->net);
	loop_free(w->loop);
	w->net = NULL;
	w->loop = NULL;
	close_accounts(w);
	heap_watch(NULL);
	trace_begin(NULL, NULL);
	simclock_enter(NULL, 0);
	come_back(w);
}

bool world_one_in(struct world *w, uint64_t n)
{
	return rng_below(&w->dice, n) == 0;
}

nsec_t world_random(struct world *w, nsec_t max)
{
	return max > 0 ? (nsec_t)rng_below(&w->dice, (uint64_t)max) : 0;
}

/* True if the machine has removed the disks, which violates no invariant. */
static bool has_lost_disks(struct world *w)
{
	const char *what = !w->disk[0] ? NULL : disk_failure(w->disk);

	if (what)
		snprintf(w->broken, sizeof(w->broken),
			 "%s, the folder of the simulated disks, %s: the world was not judged",
			 w->disk, what);
	return what;
}

void world_break(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->broken[0])
		return;
	va_start(ap, fmt);
	if (!has_lost_disks(w))
		vsnprintf(w->broken, sizeof(w->broken), fmt, ap);
	va_end(ap);
	if (!w->loop)
		return;
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
