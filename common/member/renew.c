/* SPDX-License-Identifier: Apache-2.0 */
#include "common/member/renew.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/member/enrol.h"
#include "common/net/net.h"

#include <stdlib.h>

struct renew {
	struct renew_conf conf;
	char *dir, *site, *host;
	struct enrol_renewal *pending; /* owned */
	struct loop_timer *timer;
};

static struct enrol_conf enrol_of(const struct renew *r)
{
	return (struct enrol_conf){ .loop = r->conf.loop,
				    .dir = r->dir,
				    .ctx = r->conf.ctx,
				    .role = r->conf.role,
				    .site = r->site,
				    .host = r->host };
}

/*
 * Arms the timer for the renewal. If it is due already, after a third of the time until the
 * certificate ends.
 */
static void look_later(struct renew *r)
{
	const struct identity *self = net_ctx_self(r->conf.ctx);
	nsec_t now = clock_wall(), at = enrol_renew_at(r->dir);
	nsec_t wait = at > now ? at - now : self ? (self->wall_not_after - now) / 3 : 0;

	if (wait > RENEW_PERIOD_MAX_NS)
		wait = RENEW_PERIOD_MAX_NS;
	loop_timer_arm(r->timer, wait > RENEW_PERIOD_MIN_NS ? wait : RENEW_PERIOD_MIN_NS);
}

static void ask(struct renew *r)
{
	const struct enrol_conf c = enrol_of(r);
	struct msg m = { .type = MSG_ENROL };
	struct err e = { 0 };

	enrol_renew_free(r->pending);
	r->pending = NULL;
	if (enrol_renew_begin(&c, &r->pending, &m.enrol, &e))
		log_warn(r->conf.role,
			 "no request for a new certificate can be made, trying again later: %s",
			 e.text);
	else if (r->conf.send(r->conf.arg, &m))
		log_info(r->conf.role, "a new certificate will be requested when mainsm is there");
}

static int use(struct renew *r, struct err *e)
{
	struct pki_creds creds = { 0 };
	int rc = pki_creds_load(r->dir, &creds, e);

	if (!rc)
		rc = net_ctx_reload(r->conf.ctx, &creds, e);
	pki_creds_done(&creds);
	return rc;
}

/* True if two thirds of the certificate's life are over. */
static bool is_old(const struct renew *r)
{
	const struct identity *c = net_ctx_self(r->conf.ctx);

	return c &&
	       clock_wall() - c->wall_not_before > (c->wall_not_after - c->wall_not_before) / 3 * 2;
}

/* Uses a newer certificate in the directory: daemons with one directory renew for each other. */
static void look(void *arg)
{
	struct renew *r = arg;
	struct err e = { 0 };

	if (enrol_renew_at(r->dir) <= clock_wall())
		ask(r);
	else if (is_old(r) && use(r, &e))
		log_warn(r->conf.role, "the new certificate cannot be used: %s", e.text);
	look_later(r);
}

struct renew *renew_new(const struct renew_conf *conf)
{
	struct renew *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->conf = *conf;
	r->dir = str_dup(conf->dir);
	r->site = str_dup(conf->site);
	r->host = str_dup(conf->host);
	r->timer = loop_timer_new(conf->loop, look, r);
	if (r->dir && r->site && r->host && r->timer)
		return r;
	renew_free(r);
	return NULL;
}

void renew_free(struct renew *r)
{
	if (!r)
		return;
	enrol_renew_free(r->pending);
	loop_timer_free(r->timer);
	free(r->dir);
	free(r->site);
	free(r->host);
	free(r);
}

void renew_connected(struct renew *r)
{
	look(r);
}

int renew_answer(struct renew *r, const struct msg_enrol_ack *ack, struct err *e)
{
	int rc;

	if (!r->pending)
		return err_set(e, ERR_NOTFOUND, "no certificate was requested");
	rc = enrol_renew_end(r->pending, ack, e);
	enrol_renew_free(r->pending);
	r->pending = NULL;
	if (!rc)
		rc = use(r, e);
	look_later(r);
	return rc;
}
