/* SPDX-License-Identifier: Apache-2.0 */
#include "common/member/renewal.h"

#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/link/connstr.h"
#include "common/link/link.h"
#include "common/member/renew.h"
#include "common/net/net.h"

#include <stdlib.h>

struct renewal {
	const char *role; /* also the module of the log */
	struct loop *loop; /* borrowed */
	struct net_ctx *ctx; /* borrowed */
	struct rng rng;
	struct link_net *way; /* owned */
	struct link *link; /* owned; NULL: no request is pending */
	struct renew *renew; /* owned */
	bool has_asked; /* over this line */
	bool is_reported; /* the missing answer of mainsm was reported */
};

static void hang_up(struct renewal *r)
{
	link_close(r->link, "the certificate is renewed");
	r->link = NULL;
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct renewal *r = arg;

	r->is_reported = r->has_asked = false;
	renew_connected(r->renew);
	if (!r->has_asked) /* another thread did */
		hang_up(r);
}

/* Handles the reply. A refused renewal is requested again later, over a new link. */
static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct renewal *r = arg;
	struct err e = { 0 };

	if (m->type != MSG_ENROL_ACK)
		return;
	if (renew_answer(r->renew, &m->enrol_ack, &e))
		log_warn(r->role, "the certificate was not renewed: %s", e.text);
	else
		log_notice(r->role, "certificate renewed");
	hang_up(r);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
}

static void on_retry(void *arg, struct link *l, const struct err *why, nsec_t retry_in)
{
	struct renewal *r = arg;

	if (!r->is_reported)
		log_warn(r->role, "the certificate is due to be renewed, trying again: %s",
			 why->text);
	r->is_reported = true;
}

static int dial(struct renewal *r)
{
	const struct identity *self = net_ctx_self(r->ctx);
	const struct link_conf conf = { .loop = r->loop,
					.rng = &r->rng,
					.handler = { .on_up = on_up,
						     .on_msg = on_msg,
						     .on_down = on_down,
						     .on_retry = on_retry,
						     .arg = r } };
	const struct link_dialer dialer = link_net_dialer(r->way);
	const struct msg_hello hello = { .role = r->role,
					 .site = "",
					 .host = self ? self->host : "",
					 .listen = "",
					 .epoch = (uint64_t)clock_wall(),
					 .software = "omig " OMIG_VERSION };

	r->link = link_dial(&conf, &dialer, &hello);
	return r->link ? 0 : -ERR_NOMEM;
}

/* Dials if there is no line. An earlier request is repeated when the line is up. */
static int ask(void *arg, const struct msg *m)
{
	struct renewal *r = arg;

	if (!r->link) {
		dial(r);
		return -ERR_CLOSED;
	}
	r->has_asked = true;
	return link_send(r->link, m);
}

int renewal_new(const struct renewal_conf *conf, struct renewal **out, struct err *e)
{
	const struct identity *self = net_ctx_self(conf->net);
	struct renewal *r = calloc(1, sizeof(*r));

	if (!r)
		return err_nomem(e);
	r->role = conf->role;
	r->loop = conf->loop;
	r->ctx = conf->net;
	rng_init(&r->rng, (uint64_t)clock_mono());
	r->renew = renew_new(&(struct renew_conf){ .loop = conf->loop,
						   .ctx = conf->net,
						   .role = conf->role,
						   .dir = conf->dir,
						   .site = "",
						   .host = self ? self->host : "",
						   .send = ask,
						   .arg = r });
	if (link_net_to_mainsm(conf->net, conf->mainsm, &r->way) || !r->renew) {
		renewal_free(r);
		return err_nomem(e);
	}
	renew_connected(r->renew);
	*out = r;
	return 0;
}

void renewal_free(struct renewal *r)
{
	if (!r)
		return;
	renew_free(r->renew);
	hang_up(r);
	link_net_free(r->way);
	free(r);
}
