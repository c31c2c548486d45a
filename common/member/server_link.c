/* SPDX-License-Identifier: Apache-2.0 */
#include "common/member/server_link.h"

#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/link/connstr.h"
#include "common/link/link.h"
#include "common/member/renew.h"
#include "common/net/net.h"

#include <stdlib.h>

struct server_link {
	const char *role; /* also the area of log lines */
	struct net_ctx *ctx; /* borrowed */
	struct rng rng;
	struct link_net *way; /* owned */
	struct link *link; /* owned */
	struct renew *renew; /* owned */
	bool is_reported; /* the missing link to mainsm has been reported */
};

int revoked_apply(struct net_ctx *net, const struct msg_revoked *m)
{
	int rc = 0;

	for (size_t i = 0; i < m->nserial && !rc; i++)
		if (m->serial[i].n == SERIAL_BYTES)
			rc = net_ctx_revoke(net, m->serial[i].p);
	net_ctx_check(net);
	return rc;
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct server_link *s = arg;

	s->is_reported = false;
	renew_connected(s->renew);
}

static void got_enrol_ack(struct server_link *s, const struct msg_enrol_ack *m)
{
	struct err e = { 0 };

	if (renew_answer(s->renew, m, &e))
		log_warn(s->role, "the certificate was not renewed: %s", e.text);
	else
		log_notice(s->role, "certificate renewed");
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct server_link *s = arg;

	if (m->type == MSG_ENROL_ACK)
		got_enrol_ack(s, &m->enrol_ack);
	else if (m->type == MSG_REVOKED && revoked_apply(s->ctx, &m->revoked))
		log_error(s->role, "no memory for revoked certificates: their holders are served");
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
}

static void on_retry(void *arg, struct link *l, const struct err *why, nsec_t retry_in)
{
	struct server_link *s = arg;

	if (!s->is_reported)
		log_warn(
			s->role,
			"no link to mainsm, trying again: certificates that are revoked now are still served, and none is renewed: %s",
			why->text);
	s->is_reported = true;
}

/* Sends a request. If there is no link, the request is repeated when the link is up. */
static int ask(void *arg, const struct msg *m)
{
	struct server_link *s = arg;

	return s->link ? link_send(s->link, m) : -ERR_CLOSED;
}

static struct link *dial(struct server_link *s, struct loop *loop, const char *host)
{
	const struct link_conf conf = { .loop = loop,
					.rng = &s->rng,
					.handler = { .on_up = on_up,
						     .on_msg = on_msg,
						     .on_down = on_down,
						     .on_retry = on_retry,
						     .arg = s } };
	const struct link_dialer dialer = link_net_dialer(s->way);
	const struct msg_hello hello = { .role = s->role,
					 .site = "",
					 .host = host,
					 .listen = "",
					 .epoch = (uint64_t)clock_wall(),
					 .software = "omig " OMIG_VERSION };

	return link_dial(&conf, &dialer, &hello);
}

int server_link_new(const struct server_link_conf *conf, struct server_link **out, struct err *e)
{
	const struct identity *self = net_ctx_self(conf->net);
	const char *host = self ? self->host : "";
	struct server_link *s = calloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	s->role = conf->role;
	s->ctx = conf->net;
	rng_init(&s->rng, (uint64_t)clock_mono());
	s->renew = renew_new(&(struct renew_conf){ .loop = conf->loop,
						   .ctx = conf->net,
						   .role = conf->role,
						   .dir = conf->dir,
						   .site = "",
						   .host = host,
						   .send = ask,
						   .arg = s });
	if (s->renew && !link_net_to_mainsm(conf->net, conf->mainsm, &s->way))
		s->link = dial(s, conf->loop, host);
	if (!s->link) {
		server_link_free(s);
		return err_nomem(e);
	}
	*out = s;
	return 0;
}

void server_link_free(struct server_link *s)
{
	if (!s)
		return;
	renew_free(s->renew);
	link_close(s->link, "the server ends");
	link_net_free(s->way);
	free(s);
}
