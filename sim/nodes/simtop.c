/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/nodes/simtop.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/net/net.h"
#include "common/time/timebase.h"
#include "mainsm/mainsm.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Minimum time between two stops. If mainsm always continued just before its time-out, its answers
 * would be delayed without end.
 */
#define RUNS_NS (10 * NSEC_PER_SEC)

struct simtop {
	struct world *w;
	struct mainsm *m; /* NULL: mainsm does not run */
	struct net_ctx *ctx;
	struct identity who;
	struct rng rng;
	struct timebase time;
	struct hostclock clock;
	struct simdisk *disk; /* owned */
	size_t tool_queue;
	struct named_site *site; /* owned; NULL: the configuration has no sites */
	struct site_conf *site_conf; /* owned; entries for the sites */
	size_t sites;
	nsec_t free_at; /* mainsm is not held again before this time */
};

struct named_site {
	char name[SITE_NAME_MAX + 1];
};

/* Starts nothing: the code that runs the world starts all sms. */
static int start_sm(void *arg, const struct site *site, const char *launcher,
		    const struct token_text *token, struct err *e)
{
	return 0;
}

static nsec_t wall_now(void *arg)
{
	const struct simtop *t = arg;

	return hostclock_wall(&t->clock);
}

static int connection(void *arg, const struct token_text *token, struct buf *out)
{
	buf_printf(out, "%s %s", token->id, token->secret);
	return out->failed ? -ERR_NOMEM : 0;
}

static void on_end(void *arg, const char *reason)
{
	struct simtop *t = arg;

	world_break(t->w, "INV-17: mainsm ends without a reason: %s", reason);
}

/*
 * Names the sites like an admin in mainsm.conf, because hosts and sms may claim only a few new
 * sites.
 */
static int name_sites(struct simtop *t, unsigned sites, struct err *e)
{
	if (sites <= SITES_CLAIMED_MAX)
		return 0;
	t->site = calloc(sites, sizeof(*t->site));
	t->site_conf = calloc(sites, sizeof(*t->site_conf));
	if (!t->site || !t->site_conf)
		return err_nomem(e);
	for (unsigned i = 0; i < sites; i++) {
		snprintf(t->site[i].name, sizeof(t->site[i].name), SIMTOP_SITE, i);
		t->site_conf[i] = (struct site_conf){ t->site[i].name, "", "", "", "" };
	}
	t->sites = sites;
	return 0;
}

int simtop_new(struct world *w, size_t tool_queue, unsigned sites, struct simtop **out,
	       struct err *e)
{
	struct simtop *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return err_nomem(e);
	t->w = w;
	t->tool_queue = tool_queue;
	t->who = world_identity(w, ROLE_MAINSM, "", WORLD_TOP);
	rng_init(&t->rng, rng_next(&w->dice));
	rc = simdisk_new(WORLD_TOP, rng_next(&w->dice), &t->disk, e);
	if (!rc)
		rc = name_sites(t, sites, e);
	if (!rc && hostclock_open(w, WORLD_TOP, &t->clock))
		rc = err_nomem(e);
	if (rc) {
		simtop_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

void simtop_free(struct simtop *t)
{
	if (!t)
		return;
	simtop_kill(t);
	simdisk_free(t->disk);
	free(t->site);
	free(t->site_conf);
	free(t);
}

bool simtop_is_running(const struct simtop *t)
{
	return t->m != NULL;
}

static int open_it(struct simtop *t, struct err *e)
{
	struct mainsm_conf c = { .loop = t->clock.loop,
				 .rng = &t->rng,
				 .timebase = &t->time,
				 .epoch = (uint64_t)hostclock_wall(&t->clock),
				 .state_dir = WORLD_TOP,
				 .disk = simdisk_disk(t->disk),
				 .port = t->w->port,
				 .launcher = "local",
				 .site = t->site_conf,
				 .nsite = t->sites,
				 .tool_queue_cap = t->tool_queue,
				 .wall_now = wall_now,
				 .start_sm = start_sm,
				 .connection = connection,
				 .on_end = on_end,
				 .arg = t };
	int got = mem_ctx_open(t->w->net, &t->who, &t->ctx, e);

	if (got < 0)
		return got;
	timebase_init_root(&t->time, loop_now(t->clock.loop), hostclock_wall(&t->clock));
	c.ctx = t->ctx;
	got = mainsm_open(&c, &t->m, e);
	if (got < 0) {
		net_ctx_free(t->ctx);
		return got;
	}
	t->w->port = mainsm_port(t->m);
	return 0;
}

int simtop_start(struct simtop *t, struct err *e)
{
	struct loop *was = loop_enter(t->clock.loop);
	int rc = open_it(t, e);

	loop_enter(was);
	return rc;
}

/* A killed process writes nothing to disk. */
void simtop_kill(struct simtop *t)
{
	enum simdisk_state disk = simdisk_state(t->disk);

	if (!t->m)
		return;
	log_info("sim", "mainsm is killed");
	mem_net_kill_host(t->w->net, WORLD_TOP);
	simdisk_set(t->disk, SIMDISK_DEAD);
	mainsm_free(t->m);
	t->m = NULL;
	net_ctx_free(t->ctx);
	simdisk_set(t->disk, disk);
	loop_part_release(t->clock.loop);
}

void simtop_hold(struct simtop *t, nsec_t time)
{
	const nsec_t now = loop_now(t->w->loop);

	if (!t->m || now < t->free_at)
		return;
	t->free_at = now + time + RUNS_NS;
	log_info("sim", "mainsm is stopped for %lld ms", (long long)(time / NSEC_PER_MSEC));
	loop_part_hold(t->clock.loop, time);
}

void simtop_resume(struct simtop *t)
{
	loop_part_release(t->clock.loop);
}

nsec_t simtop_time(const struct simtop *t)
{
	return timebase_at(&t->time, loop_now(t->clock.loop));
}

struct hostclock *simtop_clock(struct simtop *t)
{
	return &t->clock;
}

void simtop_switch_off(struct simtop *t)
{
	log_info("sim", "the host of mainsm is switched off");
	simtop_kill(t);
	simdisk_cut_power(t->disk);
}

struct simdisk *simtop_disk(const struct simtop *t)
{
	return t->disk;
}

const struct tokens *simtop_tokens(const struct simtop *t)
{
	return mainsm_tokens(t->m);
}
