/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/nodes/simnode.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/net/net.h"
#include "lm/lm.h"
#include "sim/disk/mapcalls.h"
#include "sim/world/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME_BYTES 24

struct simnode {
	struct world *w;
	struct hostclock clock;
	struct loop_job resume; /* runs when the lm is no longer held */
	struct simhost *host;
	struct lm *lm; /* NULL: the lm does not run */
	struct net_ctx *ctx;
	struct identity who;
	struct rng rng;
	struct timebase time;
	char name[NAME_BYTES];
	struct simdisk *disk; /* owned */
	bool is_diskless, may_end;
};

static void on_end(void *arg, const char *reason)
{
	struct simnode *n = arg;

	if (!n->may_end)
		world_break(n->w, "INV-17: the lm of %s ends without a reason: %s", n->name,
			    reason);
}

static void come(struct simnode *n, struct simproc *p)
{
	int fd = fcntl(simrank_fd(p->mpi), F_DUPFD_CLOEXEC, 3);

	if (fd >= 0)
		lm_register(n->lm, fd, p->pid);
}

/* Handles events that the system would have queued for a stopped process. */
static void on_resume(void *arg)
{
	struct simnode *n = arg;

	simhost_resume(n->host);
	for (size_t i = 0; i < simhost_nproc(n->host); i++) {
		struct simproc *p = simhost_proc(n->host, i);

		if (p->is_waiting && p->is_alive)
			come(n, p);
		p->is_waiting = false;
	}
}

void simnode_resume(struct simnode *n)
{
	loop_part_release(n->clock.loop);
}

int simnode_new(struct world *w, const struct simnode_conf *conf, struct simnode **out,
		struct err *e)
{
	struct simnode *n = calloc(1, sizeof(*n));
	int rc;

	if (!n)
		return err_nomem(e);
	n->w = w;
	n->is_diskless = conf->is_diskless;
	snprintf(n->name, sizeof(n->name), "h%u", conf->number);
	n->who = world_identity(w, ROLE_LM, conf->site, n->name);
	rng_init(&n->rng, rng_next(&w->dice));
	rc = simdisk_new(n->name, rng_next(&w->dice), &n->disk, e);
	if (!rc && hostclock_open(w, n->name, &n->clock))
		rc = err_nomem(e);
	rc = rc ? rc : simhost_new(n->clock.loop, conf->number, &n->host, e);
	if (rc) {
		simnode_free(n);
		return rc;
	}
	*out = n;
	return 0;
}

void simnode_free(struct simnode *n)
{
	if (!n)
		return;
	simnode_kill(n);
	simhost_free(n->host);
	simdisk_free(n->disk);
	free(n);
}

const char *simnode_name(const struct simnode *n)
{
	return n->name;
}

const char *simnode_site(const struct simnode *n)
{
	return n->who.site;
}

struct simhost *simnode_host(struct simnode *n)
{
	return n->host;
}

bool simnode_is_running(const struct simnode *n)
{
	return n->lm != NULL;
}

int simnode_start(struct simnode *n, struct err *e)
{
	char journal[FILE_PATH_BYTES], done[FILE_PATH_BYTES], baselines[FILE_PATH_BYTES],
		audit[FILE_PATH_BYTES], spool[FILE_PATH_BYTES];
	struct lm_conf c = { .loop = n->clock.loop,
			     .rng = &n->rng,
			     .timebase = &n->time,
			     .host = simhost_host(n->host),
			     .epoch = (uint64_t)hostclock_wall(&n->clock),
			     .host_name = n->name,
			     .memfd = SIMHOST_MEMFD,
			     .uid = getuid(),
			     .may_manipulate = true,
			     .on_end = on_end,
			     .arg = n };
	const struct connstr conn = {
		.host = { WORLD_TOP }, .nhost = 1, .port = n->w->port, .pin = WORLD_PIN
	};
	int rc = mem_ctx_open(n->w->net, &n->who, &n->ctx, e);
	struct loop *was;

	if (rc)
		return rc;
	simdisk_path(n->disk, "stops", journal);
	simdisk_path(n->disk, "done", done);
	simdisk_path(n->disk, "bases", baselines);
	simdisk_path(n->disk, "audit", audit);
	simdisk_path(n->disk, "spool", spool);
	if (!n->is_diskless) {
		c.disk = simdisk_disk(n->disk);
		c.journal = journal;
		c.done = done;
		c.baselines = baselines;
		c.audit = audit;
		c.spool = spool;
		c.turns = simdisk_turns(n->disk);
	}
	timebase_init(&n->time, loop_now(n->clock.loop),
		      hostclock_wall(&n->clock) - world_random(n->w, NSEC_PER_SEC));
	was = loop_enter(n->clock.loop);
	rc = lm_open(&c, &n->lm, e);
	if (rc)
		net_ctx_free(n->ctx);
	else
		rc = lm_connect(n->lm, n->ctx, &conn);
	loop_enter(was);
	return rc;
}

/* A killed process sends no BYE, releases no holds, and writes nothing to disk. */
void simnode_kill(struct simnode *n)
{
	enum simdisk_state disk = simdisk_state(n->disk);

	if (!n->lm)
		return;
	log_info("sim", "the lm of %s is killed", n->name);
	mem_net_kill_host(n->w->net, n->name);
	simdisk_set(n->disk, SIMDISK_DEAD);
	mapcalls_kill(n->clock.loop);
	simhost_ignore(n->host, true);
	for (size_t i = 0; i < simhost_nproc(n->host); i++) {
		struct simproc *p = simhost_proc(n->host, i);

		p->was_left = true;
		p->is_unreported = p->is_waiting = false;
	}
	lm_free(n->lm);
	n->lm = NULL;
	net_ctx_free(n->ctx);
	simhost_ignore(n->host, false);
	simdisk_set(n->disk, disk);
	loop_job_cancel(&n->resume);
	loop_part_release(n->clock.loop);
}

void simnode_switch_off(struct simnode *n)
{
	log_info("sim", "%s is switched off", n->name);
	simnode_kill(n);
	simhost_switch_off(n->host);
	simdisk_cut_power(n->disk);
}

nsec_t simnode_time(const struct simnode *n, nsec_t *error)
{
	nsec_t now = loop_now(n->clock.loop);

	*error = timebase_error(&n->time, now);
	return timebase_at(&n->time, now);
}

struct hostclock *simnode_clock(struct simnode *n)
{
	return &n->clock;
}

struct simdisk *simnode_disk(const struct simnode *n)
{
	return n->disk;
}

void simnode_hold(struct simnode *n, nsec_t time)
{
	if (!n->lm)
		return;
	log_info("sim", "the lm of %s is stopped for %lld ms", n->name,
		 (long long)(time / NSEC_PER_MSEC));
	loop_part_hold(n->clock.loop, time);
	loop_job_post(n->clock.loop, &n->resume, on_resume, n);
}

struct simproc *simnode_begin(struct simnode *n, int32_t rank)
{
	struct simproc *p = simhost_begin(n->host, rank);
	struct loop *was;

	if (!p || !p->mpi || !n->lm)
		return p;
	p->is_waiting = loop_held_until(n->clock.loop) > 0;
	was = loop_enter(n->clock.loop);
	if (!p->is_waiting)
		come(n, p);
	loop_enter(was);
	return p;
}

void simnode_let_end(struct simnode *n)
{
	n->may_end = true;
}
