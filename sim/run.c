/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run.h"

#include "common/base/str.h"
#include "sim/admin.h"
#include "sim/clock.h"
#include "sim/clocks.h"
#include "sim/cluster.h"
#include "sim/faults.h"
#include "sim/judge.h"
#include "sim/user.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DELAY_NS (NSEC_PER_MSEC / 2)
#define JITTER_NS (NSEC_PER_MSEC / 2)
#define SETTLE_NS (3 * NSEC_PER_SEC) /* from the start until all have found each other */
#define IDEA_PAUSE_NS (250 * NSEC_PER_MSEC)
#define FAULT_PAUSE_NS (1500 * NSEC_PER_MSEC)
#define CALL_PAUSE_NS (50 * NSEC_PER_MSEC)
#define SLOW_NS (9 * NSEC_PER_SEC) /* what troubled links may add to an answer: 6 s until a silent one is told from a slow one */

static const char *const tool_name[RUN_TOOLS_MAX] = { "t0", "t1", "t2",	 "t3",	"t4",  "t5",  "t6",  "t7",
						      "t8", "t9", "t10", "t11", "t12", "t13", "t14", "t15" };

struct play {
	const struct run_conf *conf;
	struct world w;
	struct cluster cluster;
	struct ledger ledger;
	struct faults *faults;
	struct user *user[RUN_TOOLS_MAX];
	struct admin *admin;
	struct clocks *clocks;
};

static int open_users(struct play *p, struct err *e)
{
	struct user_conf c = { .cluster = &p->cluster, .ledger = &p->ledger, .pause = IDEA_PAUSE_NS,
			       .slow = p->conf->with_faults ? SLOW_NS : 0 };
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < p->conf->tools; i++) {
		c.name = tool_name[i];
		c.may_manipulate = i % 3 != 2;
		rc = user_new(&c, &p->user[i], e);
	}
	return rc;
}

static int open_play(struct play *p, struct err *e)
{
	unsigned levels = p->conf->levels ? p->conf->levels : 1;
	const struct cluster_conf c = { .sites = p->conf->sites, .hosts = p->conf->hosts, .ranks = p->conf->ranks,
					.levels = levels, .below = cluster_below(p->conf->sites, p->conf->hosts, levels),
					.delay = DELAY_NS, .jitter = JITTER_NS };
	const struct faults_conf f = { .cluster = &p->cluster, .ledger = &p->ledger, .tool = tool_name,
				       .ntool = p->conf->tools, .call_pause = CALL_PAUSE_NS,
				       .pause = p->conf->with_faults ? FAULT_PAUSE_NS : 0 };
	int rc = world_open(&p->w, p->conf->seed, p->conf->disk, e);

	if (rc < 0)
		return rc;
	rc = cluster_open(&p->w, &c, &p->cluster, e);
	if (rc == 0 && ledger_open(&p->ledger, (size_t)c.hosts * CLUSTER_RANKS_MAX) < 0)
		rc = err_nomem(e);
	if (rc == 0 && levels > 1)
		rc = cluster_start_sms(&p->cluster, e);
	rc = rc < 0 ? rc : cluster_start(&p->cluster, e);
	if (rc < 0)
		return rc;
	loop_advance(p->w.loop, SETTLE_NS);
	rc = open_users(p, e);
	rc = rc < 0 ? rc : clocks_new(&p->cluster, &p->clocks, e);
	rc = rc < 0 ? rc : admin_new(&p->cluster, p->conf->with_faults ? SLOW_NS : 0, &p->admin, e);
	return rc < 0 ? rc : faults_new(&f, &p->faults, e);
}

static void users_leave(struct play *p)
{
	for (unsigned i = 0; i < p->conf->tools; i++) {
		user_free(p->user[i]);
		p->user[i] = NULL;
	}
	if (p->admin)
		admin_leave(p->admin);
}

static void close_play(struct play *p)
{
	users_leave(p);
	admin_free(p->admin);
	clocks_free(p->clocks);
	faults_free(p->faults);
	cluster_close(&p->cluster);
	if (p->w.loop)
		world_close(&p->w);
	ledger_close(&p->ledger);
}

static void tell_result(const struct play *p, struct run_result *out)
{
	*out = (struct run_result){ .hash = p->w.trace.hash, .frames = p->w.trace.frames, .bytes = p->w.trace.bytes,
				    .virtual_time = loop_now(p->w.loop), .counts = p->ledger.counts,
				    .broken_at = p->w.broken_at };
	str_copy(out->broken, sizeof(out->broken), p->w.broken);
}

int run_world(const struct run_conf *c, struct run_result *out, struct err *e)
{
	struct play p = { .conf = c };
	nsec_t begun = simclock_real();
	int rc = open_play(&p, e);

	if (rc == 0) {
		if (!p.w.broken[0])
			loop_advance(p.w.loop, c->time);
		faults_heal(p.faults);
		users_leave(&p);
		judge(&p.cluster, &p.ledger, c->with_faults);
		if (!p.w.broken[0])
			p.ledger.counts.tokens = admin_judge(p.admin);
		tell_result(&p, out);
	}
	close_play(&p);
	out->real_time = simclock_real() - begun;
	return rc;
}

void run_print_command(const struct run_conf *c, struct buf *out)
{
	buf_printf(out, "omig sim cluster --seed %" PRIu64 " --sites %u --levels %u --hosts %u --ranks %u --tools %u --time %" PRId64 "ms --faults %s",
		   c->seed, c->sites, c->levels ? c->levels : 1, c->hosts, c->ranks, c->tools, c->time / NSEC_PER_MSEC,
		   c->with_faults ? "default" : "none");
}
