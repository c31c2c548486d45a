/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/judge/clocks.h"

#include "common/base/log.h"
#include "sim/rogues/rogue.h"

#include <inttypes.h>
#include <stdlib.h>

#define LOOK_NS NSEC_PER_SEC
#define STEP_MAX_NS (3600 * NSEC_PER_SEC)

struct clocks {
	struct cluster *cluster;
	struct loop_timer *timer;
};

static void compare(struct cluster *c, const char *who, nsec_t believed, nsec_t bound)
{
	nsec_t off = believed - simtop_time(c->top);

	if (bound != TIMEBASE_UNKNOWN_NS && (off > bound || -off > bound))
		world_break(c->w,
			    "INV-14: %s has an error of the time of %" PRId64
			    " ns, but a bound of %" PRId64 " ns",
			    who, off, bound);
}

void clocks_judge(struct cluster *c)
{
	nsec_t believed, bound;

	for (unsigned i = 0; i < c->sms; i++)
		if (simsite_is_running(c->site[i]) && !rogue_has_sm(c->rogue, c->site[i])) {
			believed = simsite_time(c->site[i], &bound);
			compare(c, simsite_host(c->site[i]), believed, bound);
		}
	for (unsigned i = 0; i < c->conf.hosts; i++)
		if (simnode_is_running(c->node[i]) && !rogue_has_host(c->rogue, c->node[i])) {
			believed = simnode_time(c->node[i], &bound);
			compare(c, simnode_name(c->node[i]), believed, bound);
		}
}

static void on_look(void *arg)
{
	struct clocks *k = arg;

	if (cluster_keeps_time(k->cluster) && simtop_is_running(k->cluster->top))
		clocks_judge(k->cluster);
	loop_timer_arm(k->timer, LOOK_NS);
}

int clocks_new(struct cluster *c, struct clocks **out, struct err *e)
{
	struct clocks *k = calloc(1, sizeof(*k));

	if (!k)
		return err_nomem(e);
	*k = (struct clocks){ .cluster = c };
	k->timer = loop_timer_new(c->w->loop, on_look, k);
	if (!k->timer) {
		free(k);
		return err_nomem(e);
	}
	loop_timer_arm(k->timer, LOOK_NS);
	*out = k;
	return 0;
}

void clocks_free(struct clocks *k)
{
	if (k)
		loop_timer_free(k->timer);
	free(k);
}

static struct hostclock *any_clock(struct cluster *c, struct rng *dice)
{
	switch (rng_below(dice, 3)) {
	case 0:
		return simtop_clock(c->top);
	case 1:
		return simsite_clock(c->site[rng_below(dice, c->sms)]);
	default:
		return simnode_clock(c->node[rng_below(dice, c->conf.hosts)]);
	}
}

void clocks_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n)
{
	struct hostclock *k = any_clock(c, dice);

	n->steps++;
	k->step += (nsec_t)rng_below(dice, 2 * STEP_MAX_NS + 1) - STEP_MAX_NS;
	log_info("sim", "a wall clock is %" PRId64 " s off", k->step / NSEC_PER_SEC);
}
