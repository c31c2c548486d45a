/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults/faults.h"

#include "common/base/array.h"
#include "common/base/log.h"
#include "sim/faults/disk_faults.h"
#include "sim/faults/pauses.h"
#include "sim/judge/clocks.h"

#include <stdlib.h>

#define MEND_MAX_NS (8 * NSEC_PER_SEC) /* longer than the time-out for a silent peer */
#define CALLS_AT_ONCE 3
#define TROUBLED_MAX 65536 /* links with faults at once: at this limit some are repaired first */
#define ONE_WAY_ONE_IN 3 /* fraction of cuts that concern one direction */
/*
 * time after which a TCP without acknowledgements sends nothing new: its least time-out and a round
 * trip
 */
#define UNACKNOWLEDGED_NS (300 * NSEC_PER_MSEC)
#define DISK_ONE_IN 5
#define PAUSE_ONE_IN 5
#define STEP_ONE_IN 12
#define BORN_ONE_IN 6 /* fraction of steps in which programs begin and end, instead of a fault */

struct pair {
	const char *a, *b; /* hosts; borrowed */
};

struct faults {
	struct faults_conf conf;
	struct pair *troubled;
	size_t ntroubled, cap;
	struct rng dice;
	struct loop_timer *fault, *mend, *call;
};

static bool one_in(struct faults *f, uint64_t n)
{
	return rng_below(&f->dice, n) == 0;
}

static struct simnode *any_node(struct faults *f)
{
	return f->conf.cluster->node[rng_below(&f->dice, f->conf.cluster->conf.hosts)];
}

static unsigned any_sm(struct faults *f)
{
	return (unsigned)rng_below(&f->dice, f->conf.cluster->sms);
}

static void set_link(struct faults *f, const char *a, const char *b, struct mem_link how)
{
	if (how.cut || how.deaf || how.delay || how.drop > 0)
		log_info("sim", "link fault %s %s cut=%d deaf=%s delay_ns=%lld drop=%g", a, b,
			 how.cut, how.deaf ? how.deaf : "", (long long)how.delay, how.drop);
	how.delay += f->conf.cluster->conf.delay;
	how.jitter += f->conf.cluster->conf.jitter;
	mem_net_set_link(f->conf.cluster->w->net, a, b, &how);
}

/* --- links */

static struct mem_link any_trouble(struct faults *f)
{
	struct ledger_counts *n = &f->conf.ledger->counts;

	switch (rng_below(&f->dice, 4)) {
	case 0:
		n->breaks++;
		return (struct mem_link){ .drop = 0.02 };
	case 1:
		n->slow_links++;
		return (struct mem_link){ .delay = (nsec_t)rng_below(&f->dice, 500 * NSEC_PER_MSEC),
					  .jitter = 200 * NSEC_PER_MSEC,
					  .window = 2048 };
	default:
		n->cuts++;
		return (struct mem_link){ .cut = true };
	}
}

static void trouble_link(struct faults *f, const char *a, const char *b, struct mem_link how)
{
	if (array_grow(&f->troubled, &f->cap, f->ntroubled + 1, sizeof(*f->troubled), TROUBLED_MAX))
		return;
	f->troubled[f->ntroubled++] = (struct pair){ a, b };
	if (how.cut && one_in(f, ONE_WAY_ONE_IN)) {
		how.cut = false;
		how.deaf = one_in(f, 2) ? a : b;
		how.heard_until = loop_now(f->conf.cluster->w->loop) + UNACKNOWLEDGED_NS;
	}
	set_link(f, a, b, how);
}

static void trouble(struct faults *f)
{
	struct simnode *n = any_node(f);
	const struct cluster *c = f->conf.cluster;
	unsigned sm = any_sm(f);
	const struct mem_link how = any_trouble(f);

	switch (rng_below(&f->dice, 4)) {
	case 0:
		trouble_link(f, simsite_host(c->site[sm]), cluster_above(c, sm), how);
		break;
	case 1:
		trouble_link(f, simnode_name(n), WORLD_TOP, how);
		break;
	case 2:
		trouble_link(f, f->conf.tool[rng_below(&f->dice, f->conf.ntool)], WORLD_TOP, how);
		break;
	default:
		for (unsigned i = 0; i < c->sms; i++)
			trouble_link(f, simnode_name(n), simsite_host(c->site[i]), how);
	}
}

/* Repairs the links with faults, which are few even with ten thousand hosts. */
static void mend_links(struct faults *f)
{
	for (size_t i = 0; i < f->ntroubled; i++)
		set_link(f, f->troubled[i].a, f->troubled[i].b, (struct mem_link){ 0 });
	f->ntroubled = 0;
}

static void start_all(struct faults *f)
{
	struct err e = { 0 };

	if (cluster_start(f->conf.cluster, &e))
		world_break(f->conf.cluster->w, "INV-13: a daemon does not restart: %s", e.text);
}

/* --- programs */

static void end_or_begin(struct faults *f)
{
	struct cluster *c = f->conf.cluster;
	uint64_t node = rng_below(&f->dice, c->conf.hosts);
	struct simhost *h = simnode_host(c->node[node]);
	size_t n = simhost_nproc(h);
	struct simproc *p = n ? simhost_proc(h, rng_below(&f->dice, n)) : NULL;

	if (one_in(f, 2))
		cluster_begin_rank(c, (unsigned)node);
	else if (p && p->is_alive)
		simhost_end(p, 0);
}

static void call(struct simproc *p)
{
	simrank_send(p->mpi, (int64_t)simrank_calls(p->mpi) + 1, 1000);
}

static void on_call(void *arg)
{
	struct faults *f = arg;
	struct simproc *p =
		cluster_rank(f->conf.cluster, (int64_t)rng_below(&f->dice, f->conf.ledger->n));

	for (uint64_t n = 1 + rng_below(&f->dice, CALLS_AT_ONCE);
	     p && p->is_alive && !p->is_stopped && n; n--)
		call(p);
	loop_timer_arm(f->call, (nsec_t)rng_below(&f->dice, (uint64_t)(2 * f->conf.call_pause)));
}

/* --- schedule */

static void kill_something(struct faults *f)
{
	f->conf.ledger->counts.kills++;
	switch (rng_below(&f->dice, 6)) {
	case 0:
		simtop_kill(f->conf.cluster->top);
		break;
	case 1:
	case 2:
		simsite_kill(f->conf.cluster->site[any_sm(f)]);
		break;
	default:
		simnode_kill(any_node(f));
	}
}

static void on_fault(void *arg)
{
	struct faults *f = arg;

	if (one_in(f, BORN_ONE_IN))
		end_or_begin(f);
	else if (one_in(f, PAUSE_ONE_IN))
		pauses_throw(f->conf.cluster, &f->dice, &f->conf.ledger->counts);
	else if (one_in(f, STEP_ONE_IN))
		clocks_throw(f->conf.cluster, &f->dice, &f->conf.ledger->counts);
	else if (one_in(f, DISK_ONE_IN))
		disk_faults_throw(f->conf.cluster, &f->dice, &f->conf.ledger->counts);
	else if (one_in(f, 2))
		kill_something(f);
	else
		trouble(f);
	loop_timer_arm(f->fault, (nsec_t)rng_below(&f->dice, (uint64_t)(2 * f->conf.pause)));
}

static void on_mend(void *arg)
{
	struct faults *f = arg;

	if (one_in(f, 2))
		mend_links(f);
	if (one_in(f, 2))
		disk_faults_mend(f->conf.cluster);
	start_all(f);
	loop_timer_arm(f->mend, (nsec_t)rng_below(&f->dice, MEND_MAX_NS));
}

int faults_new(const struct faults_conf *c, struct faults **out, struct err *e)
{
	struct faults *f = calloc(1, sizeof(*f));
	struct loop *l = c->cluster->w->loop;

	if (!f)
		return err_nomem(e);
	f->conf = *c;
	rng_init(&f->dice, rng_next(&c->cluster->w->dice));
	f->fault = loop_timer_new(l, on_fault, f);
	f->mend = loop_timer_new(l, on_mend, f);
	f->call = loop_timer_new(l, on_call, f);
	if (!f->fault || !f->mend || !f->call) {
		faults_free(f);
		return err_nomem(e);
	}
	loop_timer_arm(f->call, 0);
	if (c->pause) {
		loop_timer_arm(f->fault, 2 * NSEC_PER_SEC);
		loop_timer_arm(f->mend, MEND_MAX_NS / 2);
	}
	*out = f;
	return 0;
}

void faults_free(struct faults *f)
{
	if (!f)
		return;
	loop_timer_free(f->fault);
	loop_timer_free(f->mend);
	loop_timer_free(f->call);
	free(f->troubled);
	free(f);
}

void faults_heal(struct faults *f)
{
	loop_timer_cancel(f->fault);
	loop_timer_cancel(f->mend);
	loop_timer_cancel(f->call);
	log_info("sim", "all faults are repaired");
	mend_links(f);
	disk_faults_mend(f->conf.cluster);
	pauses_mend(f->conf.cluster);
	start_all(f);
}
