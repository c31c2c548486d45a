/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/nodes/simsite.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/net/net.h"
#include "common/time/timebase.h"

#include <stdlib.h>

struct simsite {
	struct world *w;
	struct sm *sm; /* NULL: the sm does not run */
	struct net_ctx *ctx;
	struct identity who;
	struct rng rng;
	struct timebase time;
	bool is_stacked, may_end;
	struct hostclock clock;
	struct simdisk *disk; /* owned; NULL: the sm stores nothing */
	char name[SIMSITE_NAME_BYTES], host[SIMSITE_NAME_BYTES];
	char parent[SIMSITE_NAME_BYTES + sizeof(":65535")];
};

static int dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		struct err *e)
{
	struct simsite *s = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(s->ctx,
			&(struct net_target){ .host = WORLD_TOP, .port = s->w->port, .expect = &x },
			h, out, e);
}

static void on_end(void *arg, const char *reason)
{
	struct simsite *s = arg;

	if (!s->may_end)
		world_break(s->w, "INV-17: %s of %s ends without a reason: %s", s->host, s->name,
			    reason);
}

int simsite_new(struct world *w, const struct simsite_conf *conf, struct simsite **out,
		struct err *e)
{
	struct simsite *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_nomem(e);
	s->w = w;
	s->is_stacked = conf->is_stacked;
	str_copy(s->name, sizeof(s->name), conf->site);
	str_copy(s->host, sizeof(s->host), conf->host);
	str_copy(s->parent, sizeof(s->parent), conf->is_stacked ? conf->parent : "");
	s->who = world_identity(w, ROLE_SM, s->name, s->host);
	rng_init(&s->rng, rng_next(&w->dice));
	rc = conf->is_diskless ? 0 : simdisk_new(s->host, rng_next(&w->dice), &s->disk, e);
	if (!rc && hostclock_open(w, s->host, &s->clock))
		rc = err_nomem(e);
	if (rc) {
		simsite_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void simsite_free(struct simsite *s)
{
	if (!s)
		return;
	simsite_kill(s);
	simdisk_free(s->disk);
	free(s);
}

const char *simsite_name(const struct simsite *s)
{
	return s->name;
}

const char *simsite_host(const struct simsite *s)
{
	return s->host;
}

bool simsite_is_running(const struct simsite *s)
{
	return s->sm != NULL;
}

static int open_it(struct simsite *s, struct err *e)
{
	const struct connstr conn = {
		.host = { WORLD_TOP }, .nhost = 1, .port = s->w->port, .pin = WORLD_PIN
	};
	struct sm_conf c = { .loop = s->clock.loop,
			     .rng = &s->rng,
			     .timebase = &s->time,
			     .dialer = { dial, s },
			     .is_stacked = s->is_stacked,
			     .parent = s->parent,
			     .conn = &conn,
			     .epoch = (uint64_t)hostclock_wall(&s->clock),
			     .site = s->name,
			     .host = s->host,
			     .port = SIMSITE_PORT,
			     .grace = SIMSITE_GRACE_NS,
			     .advertise = s->host,
			     .software = "sm",
			     .on_end = on_end,
			     .arg = s };
	char spool[FILE_PATH_BYTES];
	int rc = mem_ctx_open(s->w->net, &s->who, &s->ctx, e);

	if (rc)
		return rc;
	if (s->disk) {
		simdisk_path(s->disk, "spool", spool);
		c.disk = simdisk_disk(s->disk);
		c.spool = spool;
		c.turns = simdisk_turns(s->disk);
	}
	/* the clock of the sm differs from the system time */
	timebase_init(&s->time, loop_now(s->clock.loop),
		      hostclock_wall(&s->clock) + world_random(s->w, NSEC_PER_SEC));
	c.ctx = s->ctx;
	rc = sm_open(&c, &s->sm, e);
	if (rc)
		net_ctx_free(s->ctx);
	return rc;
}

int simsite_start(struct simsite *s, struct err *e)
{
	struct loop *was = loop_enter(s->clock.loop);
	int rc = open_it(s, e);

	loop_enter(was);
	return rc;
}

/* A killed process writes nothing. */
void simsite_kill(struct simsite *s)
{
	enum simdisk_state disk = s->disk ? simdisk_state(s->disk) : SIMDISK_WELL;

	if (!s->sm)
		return;
	log_info("sim", "%s of %s is killed", s->host, s->name);
	mem_net_kill_host(s->w->net, s->host);
	if (s->disk)
		simdisk_set(s->disk, SIMDISK_DEAD);
	sm_free(s->sm);
	s->sm = NULL;
	net_ctx_free(s->ctx);
	if (s->disk)
		simdisk_set(s->disk, disk);
	loop_part_release(s->clock.loop);
}

void simsite_switch_off(struct simsite *s)
{
	log_info("sim", "the host of %s is switched off", s->host);
	simsite_kill(s);
	if (s->disk)
		simdisk_cut_power(s->disk);
}

struct simdisk *simsite_disk(const struct simsite *s)
{
	return s->disk;
}

void simsite_hold(struct simsite *s, nsec_t time)
{
	if (!s->sm)
		return;
	log_info("sim", "the sm of %s is stopped for %lld ms", s->name,
		 (long long)(time / NSEC_PER_MSEC));
	loop_part_hold(s->clock.loop, time);
}

void simsite_resume(struct simsite *s)
{
	loop_part_release(s->clock.loop);
}

nsec_t simsite_time(const struct simsite *s, nsec_t *error)
{
	nsec_t now = loop_now(s->clock.loop);

	*error = timebase_error(&s->time, now);
	return timebase_at(&s->time, now);
}

struct hostclock *simsite_clock(struct simsite *s)
{
	return &s->clock;
}

void simsite_let_end(struct simsite *s)
{
	s->may_end = true;
}

void simsite_counts(const struct simsite *s, struct sm_counts *out)
{
	sm_get_counts(s->sm, out);
}
