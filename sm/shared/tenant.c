/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/member/enrol.h"
#include "common/net/net.h"
#include "sm/shared/tenant_internal.h"

#include <stdlib.h>
#include <string.h>

#define NAP_MIN_NS (4 * NSEC_PER_SEC) /* a mainsm that restarts is connected within this time */
#define NAP_PATIENCE_NS (5 * NSEC_PER_SEC) /* after a nap: a short attempt */
#define PIN_SHOWN 8 /* names a user in the log */

static void serve(struct tenant *t);

/* --- the network as it is */

static int check_tls(void *arg, const struct enrol_conf *c, struct err *why)
{
	return enrol_check(c, clock_wall(), why);
}

static struct enrol *enrol_tls(void *arg, const struct enrol_conf *c,
			       void (*on_done)(void *arg, const struct err *why), void *done_arg)
{
	return enrol_run(c, on_done, done_arg);
}

static void cancel_tls(void *arg, struct enrol *n)
{
	enrol_cancel(n);
}

static int open_tls(void *arg, struct loop *loop, const char *dir, struct net_ctx **out,
		    struct err *e)
{
	return enrol_open(loop, dir, NULL, out, e);
}

const struct tenant_net tenant_net_tls = { check_tls, enrol_tls, cancel_tls, open_tls, NULL };

/* --- asking */

const char *tenant_pin(const struct tenant *t)
{
	return t->pin;
}

uint16_t tenant_port(const struct tenant *t)
{
	return t->port;
}

static bool is_up(const struct tenant *t)
{
	struct sm_counts c;

	if (!t->sm)
		return false;
	sm_get_counts(t->sm, &c);
	return c.is_up;
}

enum tenant_state tenant_state(const struct tenant *t)
{
	if (!t->sm)
		return t->state;
	return is_up(t) ? TENANT_UP : TENANT_WAITING;
}

static struct quota quota_of(const struct tenant *t)
{
	struct quota q = t->policy;

	for (int i = 0; i < QUOTA_COUNT; i++)
		if (t->own[i] >= 0)
			q.max[i] = t->own[i];
	return q;
}

void tenant_get_counters(const struct tenant *t, struct tenant_counters *out)
{
	static const char *const states[] = { "joining", "waiting", "up", "asleep" };
	struct sm_counts c = { 0 };
	struct meter_stats m;

	meter_get_stats(t->meter, &m);
	if (t->sm)
		sm_get_counts(t->sm, &c);
	*out = (struct tenant_counters){
		.name = t->name,
		.pin = t->pin,
		.state = states[tenant_state(t)],
		.address = t->address,
		.trouble = c.is_up ? "" : t->trouble,
		.wall_since = t->wall_since,
		.wall_seen = c.is_up ? t->conf->wall_now(t->conf->arg) : t->wall_seen,
		.hosts = c.nodes,
		.procs = c.procs,
		.objects = c.objects,
		.csrs = c.csrs,
		.bytes = c.bytes,
		.messages = m.frames,
		.bytes_read = m.bytes,
		.read_later = m.paused,
		.refused = t->refused + c.over_quota,
		.port = t->port,
		.is_draining = t->is_draining,
		.quota = quota_of(t),
	};
}

void tenant_dump(const struct tenant *t, struct buf *out)
{
	buf_printf(out, "user=%.*s state=%d port=%u\n", PIN_SHOWN, t->pin, (int)tenant_state(t),
		   t->port);
	if (t->sm)
		sm_dump(t->sm, out);
}

/* --- state file */

static void on_save(void *arg)
{
	struct tenant *t = arg;
	struct err e = { 0 };

	if (tenant_write(t, &e))
		log_error("site", "user=%.*s would be lost by a restart: %s", PIN_SHOWN, t->pin,
			  e.text);
}

static void remember(struct tenant *t)
{
	if (t->wall_since && !loop_timer_is_armed(t->save))
		loop_timer_arm(t->save, TENANT_REMEMBER_NS);
}

/* --- quota */

static void apply_quota(struct tenant *t)
{
	const struct quota q = quota_of(t);

	meter_set_rate(t->meter, q.max[QUOTA_MESSAGES]);
	if (t->sm)
		sm_set_quota(t->sm, &q);
}

void tenant_set_policy(struct tenant *t, const struct quota *q)
{
	t->policy = *q;
	apply_quota(t);
}

void tenant_limit(struct tenant *t, enum quota_what what, int64_t n)
{
	t->own[what] = n < 0 ? -1 : n;
	apply_quota(t);
	remember(t);
}

void tenant_drain(struct tenant *t, bool drain)
{
	t->is_draining = drain;
	if (t->sm)
		sm_drain(t->sm, drain);
	remember(t);
}

void tenant_set_name(struct tenant *t, const char *name)
{
	if (str_eq(t->name, name))
		return;
	str_copy(t->name, sizeof(t->name), name);
	remember(t);
}

/* --- the sm of this user */

static void close_sm(struct tenant *t)
{
	struct sm_counts c;

	loop_job_cancel(&t->ending);
	if (t->sm) {
		sm_get_counts(t->sm, &c);
		t->refused += c.over_quota;
	}
	sm_free(t->sm);
	t->sm = NULL;
	link_net_free(t->dialer);
	t->dialer = NULL;
	net_ctx_free(t->ctx);
	t->ctx = NULL;
}

static nsec_t nap(struct tenant *t)
{
	unsigned shift = t->naps < 8 ? t->naps : 8;
	nsec_t most = NAP_MIN_NS << shift;

	if (most > TENANT_WAKE_NS)
		most = TENANT_WAKE_NS;
	t->naps++;
	return most / 2 + (nsec_t)rng_below(t->conf->rng, (uint64_t)(most / 2));
}

static void on_wake(void *arg)
{
	struct tenant *t = arg;

	serve(t);
}

static void sleep_now(struct tenant *t)
{
	close_sm(t);
	t->state = TENANT_ASLEEP;
	t->patience = NAP_PATIENCE_NS;
	loop_timer_arm(t->wake, nap(t));
	remember(t);
}

static void seen_now(struct tenant *t)
{
	t->wall_seen = t->conf->wall_now(t->conf->arg);
	remember(t);
}

void tenant_note_seen(struct tenant *t, nsec_t step)
{
	if (is_up(t) && t->conf->wall_now(t->conf->arg) - t->wall_seen >= step)
		seen_now(t);
}

static void on_ready(void *arg)
{
	struct tenant *t = arg;

	t->away_since = 0;
	t->naps = 0;
	t->patience = TENANT_ASLEEP_AFTER_NS;
	t->trouble[0] = 0;
	seen_now(t);
}

static void on_tired(void *arg)
{
	struct tenant *t = arg;

	log_info("site", "user=%.*s suspended: its mainsm is not connected", PIN_SHOWN, t->pin);
	sleep_now(t);
}

static void on_unreachable(void *arg, const struct err *why, bool was_up)
{
	struct tenant *t = arg;
	nsec_t now = loop_now(t->conf->loop);
	struct sm_counts c;

	str_copy(t->trouble, sizeof(t->trouble), why->text);
	if (was_up)
		seen_now(t);
	if (!t->away_since)
		t->away_since = now;
	sm_get_counts(t->sm, &c);
	if (!c.lms && now - t->away_since >= t->patience)
		loop_job_post(t->conf->loop, &t->ending, on_tired, t);
}

/* Called after STOP or when the certificate was revoked. Only the latter is final. */
static void on_ended(void *arg)
{
	struct tenant *t = arg;
	const struct identity *self = net_ctx_self(t->ctx);

	if (self && net_ctx_is_revoked(t->ctx, self->serial)) {
		close_sm(t);
		t->conf->on_gone(t->conf->arg, t, "the user's mainsm has revoked our certificate");
		return;
	}
	sleep_now(t);
}

static void on_end(void *arg, const char *reason)
{
	struct tenant *t = arg;

	str_copy(t->trouble, sizeof(t->trouble), reason);
	seen_now(t); /* reported by mainsm */
	loop_job_post(t->conf->loop, &t->ending, on_ended, t);
}

static int open_at(struct tenant *t, uint16_t port, struct err *e)
{
	const struct quota q = quota_of(t);
	const struct sm_conf conf = {
		.loop = t->conf->loop,
		.rng = t->conf->rng,
		.timebase = &t->timebase,
		.ctx = t->ctx,
		.dialer = link_net_dialer(t->dialer),
		.epoch = t->conf->epoch,
		.site = t->conf->site,
		.host = t->conf->host,
		.listen = t->conf->listen,
		.port = port,
		.advertise = t->conf->advertise,
		.software = t->conf->software,
		.grace = t->conf->grace,
		.enrol_dir = t->dir,
		.spool = t->spool,
		.keeps = t->conf->keeps,
		.quota = &q,
		.meter = t->meter,
		.on_ready = on_ready,
		.on_unreachable = on_unreachable,
		.on_end = on_end,
		.arg = t,
	};

	return sm_open(&conf, &t->sm, e);
}

static bool may_listen(const struct tenant *t, unsigned port)
{
	const struct tenant_conf *c = t->conf;

	return port && (!c->port_first || (port >= c->port_first && port <= c->port_last)) &&
	       !c->is_taken(c->arg, t, (uint16_t)port);
}

/* Listens on the previous port, which the user's lms know, or on any free port. */
static int open_somewhere(struct tenant *t, struct err *e)
{
	const struct tenant_conf *c = t->conf;
	int rc = may_listen(t, t->port) ? open_at(t, t->port, e) : -ERR_SYS;

	if (rc == -ERR_SYS && !c->port_first)
		return open_at(t, 0, e);
	for (unsigned p = c->port_first; rc == -ERR_SYS && p <= c->port_last; p++)
		if (may_listen(t, p))
			rc = open_at(t, (uint16_t)p, e);
	return rc == -ERR_SYS ? err_set(e, ERR_SYS, "no port of the site is free") : rc;
}

static int open_sm(struct tenant *t, struct err *e)
{
	int rc = t->conf->net->open(t->conf->net->arg, t->conf->loop, t->dir, &t->ctx, e);

	if (!rc)
		rc = link_net_to_mainsm(t->ctx, &t->conn, &t->dialer) ? err_nomem(e) : 0;
	timebase_init(&t->timebase, loop_now(t->conf->loop), t->conf->wall_now(t->conf->arg));
	if (!rc)
		rc = open_somewhere(t, e);
	if (rc) {
		close_sm(t);
		return rc;
	}
	t->away_since = loop_now(t->conf->loop);
	sm_drain(t->sm, t->is_draining);
	if (t->port != sm_port(t->sm)) {
		t->port = sm_port(t->sm);
		remember(t);
	}
	return 0;
}

static void serve(struct tenant *t)
{
	struct err e = { 0 };

	if (t->sm || !open_sm(t, &e))
		return;
	log_warn("site", "user=%.*s is not served: %s", PIN_SHOWN, t->pin, e.text);
	str_copy(t->trouble, sizeof(t->trouble), e.text);
	sleep_now(t);
}

void tenant_start(struct tenant *t, nsec_t after)
{
	t->patience = TENANT_ASLEEP_AFTER_NS;
	loop_timer_arm(t->wake, after);
}

/* --- joining */

static struct enrol_conf enrol_conf_of(const struct tenant *t)
{
	return (struct enrol_conf){ .loop = t->conf->loop,
				    .dir = t->dir,
				    .conn = &t->next,
				    .role = "sm",
				    .site = t->conf->site,
				    .host = t->conf->host };
}

static int become_member(struct tenant *t, struct err *e)
{
	int rc;

	t->conn = t->next;
	t->conn.token_id[0] = 0;
	str_wipe(t->conn.secret, sizeof(t->conn.secret));
	tenant_set_address(t);
	if (!t->name[0])
		str_copy(t->name, sizeof(t->name), t->next_name);
	close_sm(t);
	t->patience = TENANT_ASLEEP_AFTER_NS;
	rc = open_sm(t, e);
	if (!t->wall_since && !rc)
		t->wall_since = t->conf->wall_now(t->conf->arg);
	if (!rc)
		seen_now(t); /* mainsm has enrolled us */
	else if (t->wall_since)
		sleep_now(t);
	return rc;
}

static void on_enrolled(void *arg, const struct err *why)
{
	struct tenant *t = arg;
	struct err e = { 0 };

	t->enrol = NULL;
	if (t->state == TENANT_JOINING)
		t->state = TENANT_ASLEEP;
	if (!why && become_member(t, &e))
		why = &e;
	str_wipe(&t->next, sizeof(t->next));
	t->conf->on_joined(t->conf->arg, t, why);
}

int tenant_join(struct tenant *t, const struct connstr *conn, const char *name, struct err *e)
{
	const struct tenant_net *net = t->conf->net;
	struct enrol_conf c;

	if (t->enrol)
		return err_set(e, ERR_EXISTS, "this mainsm is joining already");
	t->next = *conn;
	str_copy(t->next_name, sizeof(t->next_name), name);
	c = enrol_conf_of(t);
	t->enrol = net->enrol(net->arg, &c, on_enrolled, t);
	if (t->enrol)
		return 0;
	str_wipe(&t->next, sizeof(t->next));
	return err_nomem(e);
}

/* --- life */

int tenant_new(const struct tenant_conf *conf, const char *pin, struct tenant **out, struct err *e)
{
	struct tenant *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return err_nomem(e);
	t->conf = conf;
	t->state = TENANT_JOINING;
	for (int i = 0; i < QUOTA_COUNT; i++)
		t->own[i] = -1;
	str_copy(t->pin, sizeof(t->pin), pin);
	t->meter = meter_new(conf->loop);
	t->wake = loop_timer_new(conf->loop, on_wake, t);
	t->save = loop_timer_new(conf->loop, on_save, t);
	rc = t->meter && t->wake && t->save ? 0 : err_nomem(e);
	if (!rc)
		rc = file_join(t->dir, sizeof(t->dir), conf->dir, pin, e);
	if (!rc)
		rc = file_join(t->spool, sizeof(t->spool), t->dir, "spool", e);
	if (!rc)
		rc = file_private_dir(t->dir, e);
	if (rc) {
		tenant_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

int tenant_load(struct tenant *t, struct err *e)
{
	int rc = tenant_read(t, e);

	if (!rc)
		t->state = TENANT_ASLEEP;
	return rc;
}

void tenant_free(struct tenant *t)
{
	if (!t)
		return;
	if (t->save && loop_timer_is_armed(t->save))
		on_save(t);
	if (t->enrol)
		t->conf->net->cancel(t->conf->net->arg, t->enrol);
	close_sm(t);
	meter_free(t->meter);
	loop_timer_free(t->wake);
	loop_timer_free(t->save);
	str_wipe(&t->next, sizeof(t->next));
	free(t);
}
