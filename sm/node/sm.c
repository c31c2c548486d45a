/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/node/sm.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/net/net.h"
#include "common/route/plan.h"
#include "sm/node/sm_internal.h"

#include <stdlib.h>
#include <string.h>

#define LISTEN_DEFAULT "127.0.0.1"

/* --- timers */

static void on_drain(void *arg)
{
	struct sm *sm = arg;

	sm_end(sm, sm->reason);
}

static void on_linger(void *arg)
{
	sm_end(arg, "no lm is left to serve");
}

void sm_set_times(struct sm *sm, nsec_t linger, nsec_t grace)
{
	sm->conf.linger = linger;
	sm->conf.grace = grace > 0 ? grace : SM_GRACE_DEFAULT_NS;
	sm_arm_linger(sm);
}

void sm_set_quota(struct sm *sm, const struct quota *q)
{
	sm->quota = *q;
	nodes_set_quota(sm->nodes, &sm->quota, &sm->use);
}

void sm_drain(struct sm *sm, bool drain)
{
	nodes_refuse_new(sm->nodes, drain);
}

/* --- callbacks of the parts */

static int send_up(void *arg, const struct msg *m)
{
	struct sm *sm = arg;

	return parent_link_send(sm->parent, m);
}

static int ask_top(void *arg, const struct msg *m)
{
	struct sm *sm = arg;

	return parent_link_ask_top(sm->parent, m);
}

static int send_frames_up(void *arg, const uint8_t *p, size_t n)
{
	struct sm *sm = arg;

	return parent_link_send_frames(sm->parent, p, n);
}

static bool is_congested(void *arg)
{
	struct sm *sm = arg;

	return parent_link_is_congested(sm->parent);
}

static nsec_t rtt_up(void *arg)
{
	struct sm *sm = arg;

	return parent_link_rtt(sm->parent);
}

static int own_status(void *arg, uint32_t action, struct reply *into)
{
	struct sm *sm = arg;
	struct sm_counters s;
	struct token site;

	sm_collect(sm, &s);
	return sm_counters_reply(
		&s, action,
		token_print_number(&site, TOKEN_SITE, parent_link_site_number(sm->parent)), into);
}

/* Adds no entry when the sm has no piece of the measurement. */
static int own_look(void *arg, const struct plan_here *here, struct reply *into)
{
	struct sm *sm = arg;
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);
	struct token site;
	int64_t measurement = 0;
	int rc = 0;

	omis_value_i64(&here->call->param[1], &measurement);
	if (measurement > 0 && measurement <= UINT32_MAX &&
	    site_measures_look(sm->measures, (uint32_t)measurement, &w) == 0)
		rc = b.failed ? -ERR_LIMIT
			      : reply_add(into, here->action,
					  token_print_number(&site, TOKEN_SITE,
							     parent_link_site_number(sm->parent)),
					  STATUS_OK, buf_str(&b));
	buf_done(&b);
	return rc;
}

/* --- opening */

static bool is_wildcard(const char *addr)
{
	return str_eq(addr, "0.0.0.0") || str_eq(addr, "::") || str_eq(addr, "[::]");
}

/* Prints the hosts, separated by commas, each with the port. */
static int print_addresses(const char *hosts, uint16_t port, struct buf *out, struct err *e)
{
	char host[NAME_MAX_BYTES + 1];

	while (*hosts) {
		size_t n = strcspn(hosts, ",");

		if (!n || n > NAME_MAX_BYTES)
			return err_set(e, ERR_LIMIT,
				       "a name in the advertised addresses is empty or too long");
		memcpy(host, hosts, n);
		host[n] = 0;
		if (out->n)
			buf_putc(out, ',');
		hostport_print(host, port, out);
		hosts += n + (hosts[n] == ',');
	}
	return out->failed ? err_set(e, ERR_LIMIT, "too many advertised addresses") : 0;
}

static const char *advertised(const struct sm *sm)
{
	const char *listen = sm->conf.listen ? sm->conf.listen : LISTEN_DEFAULT;

	if (sm->conf.advertise && sm->conf.advertise[0])
		return sm->conf.advertise;
	return is_wildcard(listen) ? sm->host : listen;
}

static int open_nodes(struct sm *sm, struct err *e)
{
	struct nodes_conf c = {
		.loop = sm->conf.loop,
		.rng = sm->conf.rng,
		.timebase = sm->conf.timebase,
		.ctx = sm->conf.ctx,
		.epoch = sm->conf.epoch,
		.site = sm->site,
		.name = sm->host,
		.listen = sm->conf.listen ? sm->conf.listen : LISTEN_DEFAULT,
		.port = sm->conf.port,
		.queue_cap = sm->conf.queue_cap,
		.fan_in = sm->conf.fan_in,
		.meter = sm->conf.meter,
		.handler = sm_from_branches,
	};

	int rc;

	c.handler.arg = sm;
	rc = nodes_open(&c, &sm->nodes, e);
	if (!rc)
		branches_set_owner(nodes_branches(sm->nodes), nodes_owns, sm->nodes);
	return rc;
}

static int open_parent(struct sm *sm, struct err *e)
{
	struct buf listen = BUF_INIT(FRAME_PREAUTH_MAX_BYTES / 2);
	struct parent_link_conf c = {
		.is_stacked = sm->conf.is_stacked,
		.ctx = sm->conf.ctx,
		.conn = sm->conf.conn,
		.stated = sm->conf.parent,
		.loop = sm->conf.loop,
		.rng = sm->conf.rng,
		.timebase = sm->conf.timebase,
		.dialer = sm->conf.dialer,
		.epoch = sm->conf.epoch,
		.site = sm->site,
		.host = sm->host,
		.software = sm->software,
		.meter = sm->conf.meter,
		.handler = sm_from_parent,
	};
	int rc = print_addresses(advertised(sm), nodes_port(sm->nodes), &listen, e);

	c.handler.arg = sm;
	c.listen = buf_str(&listen);
	if (!rc)
		rc = parent_link_open(&c, &sm->parent, e);
	buf_done(&listen);
	return rc;
}

static bool has_room(void *arg, size_t bytes)
{
	struct err e = { 0 };

	return !sm_check_room(arg, bytes, &e);
}

static uint32_t own_number(void *arg)
{
	return parent_link_site_number(((struct sm *)arg)->parent);
}

static int open_work(struct sm *sm, struct err *e)
{
	int rc;

	sm->requests = requests_new(&(struct requests_conf){ .loop = sm->conf.loop,
							     .nodes = sm->nodes,
							     .placement = sm->placement,
							     .send = send_frames_up,
							     .rtt = rtt_up,
							     .status = own_status,
							     .look = own_look,
							     .has_room = has_room,
							     .arg = sm });
	sm->csrs = site_csrs_new(&(struct site_csrs_conf){ .loop = sm->conf.loop,
							   .nodes = sm->nodes,
							   .placement = sm->placement,
							   .send = send_up,
							   .is_congested = is_congested,
							   .arg = sm });
	sm->measures =
		site_measures_new(&(struct site_measures_conf){ .loop = sm->conf.loop,
								.timebase = sm->conf.timebase,
								.nodes = sm->nodes,
								.site = own_number,
								.send = send_up,
								.arg = sm });
	rc = site_subscriptions_new(&(struct site_subscriptions_conf){ .loop = sm->conf.loop,
								       .rng = sm->conf.rng,
								       .nodes = sm->nodes,
								       .dir = sm->conf.spool,
								       .disk = sm->conf.disk,
								       .turns = sm->conf.turns,
								       .all = sm->conf.keeps,
								       .send = send_up,
								       .arg = sm },
				    &sm->subscriptions, e);
	if (rc)
		return rc;
	if (sm->conf.enrol_dir) {
		sm->renew = renew_new(&(struct renew_conf){ .loop = sm->conf.loop,
							    .ctx = sm->conf.ctx,
							    .role = "sm",
							    .dir = sm->conf.enrol_dir,
							    .site = sm->site,
							    .host = sm->host,
							    .send = ask_top,
							    .arg = sm });
		if (!sm->renew)
			return err_nomem(e);
	}
	return sm->requests && sm->csrs && sm->measures ? 0 : err_nomem(e);
}

static int open_parts(struct sm *sm, struct err *e)
{
	struct loop *l = sm->conf.loop;
	int rc;

	sm->site = str_dup(sm->conf.site);
	sm->host = str_dup(sm->conf.host);
	sm->software = str_dup(sm->conf.software ? sm->conf.software : "");
	sm->placement = placement_new();
	sm->sessions = sessions_new();
	sm->old_tools = sessions_new();
	sm->linger = loop_timer_new(l, on_linger, sm);
	sm->grace = loop_timer_new(l, sm_grace_over, sm);
	sm->leash = loop_timer_new(l, sm_leash_over, sm);
	sm->drain = loop_timer_new(l, on_drain, sm);
	sm->announcer = announcer_new(l, sm->site);
	if (!sm->site || !sm->host || !sm->software || !sm->placement || !sm->sessions ||
	    !sm->old_tools || !sm->linger || !sm->grace || !sm->leash || !sm->drain ||
	    !sm->announcer)
		return err_nomem(e);
	rc = open_nodes(sm, e);
	if (!rc)
		rc = open_work(sm, e);
	if (!rc)
		rc = open_parent(sm, e);
	if (!rc)
		announcer_connect(sm->announcer, sm->nodes, sm->parent);
	return rc;
}

int sm_open(const struct sm_conf *conf, struct sm **out, struct err *e)
{
	struct sm *sm = calloc(1, sizeof(*sm));
	int rc;

	if (!sm)
		return err_nomem(e);
	sm->conf = *conf;
	sm->started = loop_now(conf->loop);
	rc = open_parts(sm, e);
	if (rc) {
		sm_free(sm);
		return rc;
	}
	sm_set_times(sm, conf->linger, conf->grace);
	if (conf->quota)
		sm_set_quota(sm, conf->quota);
	*out = sm;
	return 0;
}

void sm_free(struct sm *sm)
{
	if (!sm)
		return;
	if (sm->requests)
		requests_free(sm->requests);
	site_csrs_free(sm->csrs);
	site_measures_free(sm->measures);
	site_subscriptions_free(sm->subscriptions);
	nodes_close(sm->nodes);
	parent_link_close(sm->parent, sm->reason[0] ? sm->reason : "the sm ends");
	announcer_free(sm->announcer);
	renew_free(sm->renew);
	placement_free(sm->placement);
	sessions_free(sm->sessions);
	sessions_free(sm->old_tools);
	loop_timer_free(sm->linger);
	loop_timer_free(sm->grace);
	loop_timer_free(sm->leash);
	loop_timer_free(sm->drain);
	loop_job_cancel(&sm->end);
	free(sm->site);
	free(sm->host);
	free(sm->software);
	free(sm);
}

uint16_t sm_port(const struct sm *sm)
{
	return nodes_port(sm->nodes);
}
