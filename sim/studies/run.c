/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/studies/run.h"

#include "common/base/str.h"
#include "sim/disk/mapcalls.h"
#include "sim/faults/faults.h"
#include "sim/judge/clocks.h"
#include "sim/judge/judge.h"
#include "sim/nodes/cluster.h"
#include "sim/studies/memory_limits.h"
#include "sim/tools/admin.h"
#include "sim/tools/keeper.h"
#include "sim/tools/user.h"
#include "sim/world/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DELAY_NS (NSEC_PER_MSEC / 2)
#define JITTER_NS (NSEC_PER_MSEC / 2)
#define SETTLE_NS (3 * NSEC_PER_SEC) /* time from the start until all daemons are connected */
#define IDEA_PAUSE_NS (250 * NSEC_PER_MSEC)
#define FAULT_PAUSE_NS (1500 * NSEC_PER_MSEC)
#define CALL_PAUSE_NS (50 * NSEC_PER_MSEC)
/* small, so that the queue is full soon; the behaviour does not depend on the size */
#define TOOL_QUEUE_BYTES (1024 * 1024)
#define TOOL_QUEUE_HOST_BYTES 1024 /* several times the answer of a host */
#define KEEPER "keeper"
#define KEEPS_ONE_IN 3 /* one world in three has a keeper */
/* longest delay that faulty links add to an answer: a silent link counts as lost after 6 s */
#define SLOW_NS (9 * NSEC_PER_SEC)

/* Hosts without daemons whose links may be cut: those of the keeper, then of the users. */
static const char *const guest_name[1 + RUN_TOOLS_MAX] = { KEEPER, "t0",  "t1",	 "t2",	"t3", "t4",
							   "t5",   "t6",  "t7",	 "t8",	"t9", "t10",
							   "t11",  "t12", "t13", "t14", "t15" };

struct play {
	const struct run_conf *conf;
	struct world w;
	struct cluster cluster;
	struct ledger ledger;
	struct faults *faults;
	struct rogue *rogue; /* NULL: the world has no rogue */
	struct user *user[RUN_TOOLS_MAX];
	struct admin *admin;
	struct keeper *keeper; /* NULL: the world has no keeper */
	struct clocks *clocks;
	struct memory_limits *limits;
};

/*
 * Some worlds have a keeper, which costs much time. There is none if sms are below sms. A restarted
 * sm waits for each host that it had, even if the host has moved to another sm. Then the end of the
 * subscription always names that host as missing. There is no keeper with a rogue either. A rogue
 * can be missing at the end, report events that never occurred, and leave events that it should
 * delete.
 */
static int open_keeper(struct play *p, struct err *e)
{
	const struct keeper_conf c = { .cluster = &p->cluster,
				       .ledger = &p->ledger,
				       .name = KEEPER,
				       .with_faults = p->conf->with_faults,
				       .slow = p->conf->with_faults ? SLOW_NS : 0 };

	return p->conf->levels <= 1 && !p->rogue && world_one_in(&p->w, KEEPS_ONE_IN)
		       ? keeper_new(&c, &p->keeper, e)
		       : 0;
}

static int open_users(struct play *p, struct err *e)
{
	struct user_conf c = { .cluster = &p->cluster,
			       .ledger = &p->ledger,
			       .pause = IDEA_PAUSE_NS,
			       .slow = p->conf->with_faults ? SLOW_NS : 0 };
	int rc = 0;

	for (unsigned i = 0; !rc && i < p->conf->tools; i++) {
		c.name = guest_name[1 + i];
		c.may_manipulate = i % 3 != 2;
		rc = user_new(&c, &p->user[i], e);
	}
	return rc;
}

static int open_play(struct play *p, struct err *e)
{
	unsigned levels = p->conf->levels ? p->conf->levels : 1;
	const struct cluster_conf c = {
		.sites = p->conf->sites,
		.hosts = p->conf->hosts,
		.ranks = p->conf->ranks,
		.levels = levels,
		.below = cluster_below(p->conf->sites, p->conf->hosts, levels),
		.tool_queue = TOOL_QUEUE_BYTES + p->conf->hosts * TOOL_QUEUE_HOST_BYTES,
		.delay = DELAY_NS,
		.jitter = JITTER_NS
	};
	struct faults_conf f = { .cluster = &p->cluster,
				 .ledger = &p->ledger,
				 .call_pause = CALL_PAUSE_NS,
				 .pause = p->conf->with_faults ? FAULT_PAUSE_NS : 0 };
	int rc = world_open(&p->w, p->conf->seed, true, e);

	if (rc)
		return rc;
	mapcalls_watch(true);
	rc = cluster_open(&p->w, &c, &p->cluster, e);
	if (!rc && ledger_open(&p->ledger, (size_t)c.hosts * CLUSTER_RANKS_MAX))
		rc = err_nomem(e);
	if (!rc && levels > 1)
		rc = cluster_start_sms(&p->cluster, e);
	rc = rc ? rc : cluster_start(&p->cluster, e);
	if (p->conf->with_faults && rogue_is_drawn(p->conf->rogues, p->conf->seed))
		rc = rogue_new(&p->cluster, &p->ledger, p->conf->seed, &p->rogue, e);
	if (rc)
		return rc;
	loop_advance(p->w.loop, SETTLE_NS);
	rc = memory_limits_new(&p->cluster, &p->limits, e);
	rc = rc ? rc : open_users(p, e);
	rc = rc ? rc : clocks_new(&p->cluster, &p->clocks, e);
	rc = rc ? rc : open_keeper(p, e);
	rc = rc ? rc : admin_new(&p->cluster, p->conf->with_faults ? SLOW_NS : 0, &p->admin, e);
	f.tool = guest_name + !p->keeper;
	f.ntool = p->conf->tools + !!p->keeper;
	return rc ? rc : faults_new(&f, &p->faults, e);
}

static void users_leave(struct play *p)
{
	for (unsigned i = 0; i < p->conf->tools; i++) {
		user_free(p->user[i]);
		p->user[i] = NULL;
	}
	if (p->admin)
		admin_leave(p->admin);
	if (!rogue_counts(p->rogue))
		rogue_stop(p->rogue); /* the rogue ends like the other tools */
}

static void close_play(struct play *p)
{
	users_leave(p);
	keeper_free(p->keeper);
	admin_free(p->admin);
	clocks_free(p->clocks);
	memory_limits_free(p->limits);
	faults_free(p->faults);
	rogue_free(p->rogue);
	cluster_close(&p->cluster);
	mapcalls_watch(false);
	if (p->w.loop)
		world_close(&p->w);
	ledger_close(&p->ledger);
}

static void report_broken(const struct play *p, struct run_result *out)
{
	str_copy(out->broken, sizeof(out->broken), p->w.broken);
	out->broken_at = p->w.broken_at;
}

static void report_result(const struct play *p, struct run_result *out)
{
	*out = (struct run_result){ .hash = p->w.trace.hash,
				    .frames = p->w.trace.frames,
				    .bytes = p->w.trace.bytes,
				    .virtual_time = loop_now(p->w.loop),
				    .counts = p->ledger.counts };
	report_broken(p, out);
}

int run_world(const struct run_conf *c, struct run_result *out, struct err *e)
{
	struct play p = { .conf = c };
	nsec_t begun = simclock_real();
	int rc = open_play(&p, e);

	if (!rc) {
		if (!p.w.broken[0])
			loop_advance(p.w.loop, c->time);
		faults_heal(p.faults);
		users_leave(&p);
		if (p.keeper && !p.w.broken[0])
			keeper_finish(p.keeper);
		judge(&p.cluster, &p.ledger, c->with_faults);
		if (!p.w.broken[0])
			p.ledger.counts.tokens = admin_judge(p.admin);
		if (!p.w.broken[0])
			memory_limits_judge(p.limits);
		report_result(&p, out);
	}
	close_play(&p);
	if (!rc && !out->broken[0])
		report_broken(&p, out);
	out->real_time = simclock_real() - begun;
	return rc;
}

void run_print_command(const struct run_conf *c, struct buf *out)
{
	buf_printf(out,
		   "omig sim cluster --seed %" PRIu64
		   " --sites %u --levels %u --hosts %u --ranks %u --tools %u --time %" PRId64
		   "ms --faults %s%s",
		   c->seed, c->sites, c->levels ? c->levels : 1, c->hosts, c->ranks, c->tools,
		   c->time / NSEC_PER_MSEC, c->with_faults ? "default" : "none",
		   c->rogues == ROGUE_ALWAYS  ? " --rogues always"
		   : c->rogues == ROGUE_NEVER ? " --rogues never"
					      : "");
}
