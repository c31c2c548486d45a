/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/shared/site_admin.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/omis/services/check.h"
#include "common/route/rights.h"
#include "sm/shared/site_admin_internal.h"
#include "tree/refusal.h"
#include "tree/wire.h"

#include <stdlib.h>

/* --- answering */

void site_admin_reply(struct visitor *v, const struct reply *r)
{
	struct buf b = BUF_INIT(TOOL_QUEUE_MAX_BYTES);
	int rc = wire_put_reply(&b, r);

	if (!rc)
		rc = link_send_frames(v->link, b.p, b.n);
	buf_done(&b);
	if (rc == -ERR_AGAIN || rc == -ERR_LIMIT)
		link_fail(v->link, MSG_ERR_SLOW, "the client does not read its replies");
}

static void refuse(struct visitor *v, uint64_t id, unsigned status, const char *why)
{
	struct reply *r = refusal_reply(id, status, why);

	v->site_admin->refused++;
	if (r)
		site_admin_reply(v, r);
	reply_free(r);
}

/* Later answers are whole replies: a slow action must be alone in its request. */
static void execute(struct visitor *v, uint64_t id, const struct omis_request *request)
{
	struct reply *r = reply_new();
	int status = r ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !status && i < request->naction; i++) {
		struct site_admin_call c = { v, &request->action[i], (uint32_t)i + 1, id, r };

		if (request->naction > 1 && str_eq(c.call->name, "omig_site_join"))
			status = reply_add(r, c.action, NULL, STATUS_PARAMETER_ERROR,
					   "joining takes its time: ask for it alone");
		else
			status = site_admin_execute(&c);
	}
	if (!status) {
		r->id = id;
		site_admin_reply(v, r);
	} else if (status < 0) {
		refuse(v, id, status_from_err(status), "the answer could not be made");
	}
	reply_free(r);
}

static void got_request(struct visitor *v, const struct msg_request *q)
{
	struct omis_request *request = NULL;
	struct omis_diag diag = { 0 };
	struct err e = { 0 };

	v->site_admin->requests++;
	if (omis_parse((const char *)q->text.p, q->text.n, &request, &e)) {
		refuse(v, q->id, e.code == ERR_NOMEM ? STATUS_NO_MEMORY : STATUS_SYNTAX_ERROR,
		       e.text);
		return;
	}
	if (omis_check(request, &diag))
		refuse(v, q->id, diag.status ? diag.status : STATUS_NO_MEMORY, diag.err.text);
	else if (request->event)
		refuse(v, q->id, STATUS_UNSUPPORTED_SERVICE,
		       "the sm of a site has no events of its own: ask your mainsm");
	else
		execute(v, q->id, request);
	omis_request_free(request);
}

static void renew(struct visitor *v, const struct msg_enrol *q)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	struct msg m = { .type = MSG_ENROL_ACK };

	if (v->site_admin->enrol) {
		enrol_service_renew(v->site_admin->enrol, link_identity(v->link), q, &cert,
				    &m.enrol_ack);
		link_send(v->link, &m);
	}
	buf_done(&cert);
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct visitor *v = arg;

	if (m->type == MSG_REQUEST)
		got_request(v, &m->request);
	else if (m->type == MSG_ENROL)
		renew(v, &m->enrol);
	else if (m->type == MSG_CANCEL && v->is_joining && m->cancel.id == v->joining)
		site_admin_abandon(v);
}

/* --- coming and going */

static void visitor_free(struct visitor *v, const char *reason)
{
	site_admin_abandon(v);
	link_close(v->link, reason);
	meter_free(v->meter);
	list_del(&v->in_visitors);
	v->site_admin->nvisitor--;
	v->site_admin->njoiner -= v->right != OMIS_ADMIN;
	free(v);
}

static int on_hello(void *arg, struct link *l, const struct msg_hello *h, struct msg_hello_ack *ack,
		    struct err *why)
{
	struct visitor *v = arg;
	const struct identity *id = link_identity(l);

	if (!id || !(ROLES_TOOL >> id->role & 1))
		return err_set(why, ERR_DENIED, "only admins and joining users connect here");
	if (identity_to_uri(v->identity, id, why))
		return -ERR_INVALID;
	str_copy(v->name, sizeof(v->name), id->host);
	ack->tool = v->number = ++v->site_admin->last_number;
	ack->name = v->name;
	ack->site = v->site_admin->conf.site;
	return 0;
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct visitor *v = arg;

	log_info("front", "%s is there right=%s", v->name, omis_right_name(v->right));
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	struct visitor *v = arg;
	const char *fault = link_fault(l);

	if (fault)
		log_warn("front", "cut %s: %s", v->name, fault);
	v->link = NULL; /* gone after this call */
	visitor_free(v, NULL);
}

static void on_gone(void *arg, struct link *l)
{
	struct visitor *v = arg;

	v->link = NULL;
	visitor_free(v, NULL);
}

/* The oldest visitor without a join under way: silent ones do not block others. */
static struct visitor *idle_joiner(const struct site_admin *f)
{
	list_each (i, &f->visitors) {
		struct visitor *v = list_entry(i, struct visitor, in_visitors);

		if (v->right != OMIS_ADMIN && !v->is_joining)
			return v;
	}
	return NULL;
}

/* Joining users never take an admin's place, in any number. */
static bool make_room(struct site_admin *f, enum omis_right right)
{
	struct visitor *idle;

	if (right == OMIS_ADMIN || f->njoiner < SITE_ADMIN_JOINERS_MAX)
		return f->nvisitor < SITE_ADMIN_VISITORS_MAX;
	idle = idle_joiner(f);
	if (idle)
		visitor_free(idle, "others want to join, and you did nothing");
	return idle;
}

static struct visitor *visitor_new(struct site_admin *f, enum omis_right right)
{
	struct visitor *v = calloc(1, sizeof(*v));

	if (v)
		v->meter = meter_new(f->conf.loop);
	if (!v || !v->meter) {
		free(v);
		return NULL;
	}
	v->site_admin = f;
	v->right = right;
	meter_set_rate(v->meter, SITE_ADMIN_VISITOR_RATE);
	list_push_back(&f->visitors, &v->in_visitors);
	f->nvisitor++;
	f->njoiner += right != OMIS_ADMIN;
	return v;
}

static void accept_visitor(struct site_admin *f, struct chan *c)
{
	const struct identity *id = chan_peer(c);
	enum omis_right right = id ? route_right_of_role(role_name(id->role)) : OMIS_OBSERVE;
	struct visitor *v = make_room(f, right) ? visitor_new(f, right) : NULL;
	const struct link_conf conf = {
		.loop = f->conf.loop,
		.rng = f->conf.rng,
		.timebase = f->conf.timebase,
		.epoch = f->conf.epoch,
		.listener = f->listener,
		.meter = v ? v->meter : NULL,
		.handler = { .on_hello = on_hello,
			     .on_up = on_up,
			     .on_msg = on_msg,
			     .on_down = on_down,
			     .on_gone = on_gone,
			     .arg = v },
	};

	if (v)
		v->link = link_accept(&conf, &c);
	if (v && v->link)
		return;
	chan_close(c, "no room for another visitor");
	if (v)
		visitor_free(v, NULL);
}

static void on_accept(void *arg, struct chan *c)
{
	struct site_admin *f = arg;

	if (!chan_is_enrol(c))
		accept_visitor(f, c);
	else if (f->enrol)
		enrol_service_take(f->enrol, c);
	else
		chan_close(c, "there is no enrolment here");
}

static void on_refused(void *arg, const char *remote, const struct err *why)
{
	log_warn("front", "refused peer=%s: %s", remote, why->text);
}

/* --- life */

/* Daemons cannot enrol in this small monitor: no token here is for one. */
static int choose_site(void *arg, const char *claim, const char *host, const char **out,
		       struct err *e)
{
	return err_set(e, ERR_INVALID, "only tools enrol at the sm of a site");
}

static nsec_t wall_now(void *arg)
{
	struct site_admin *f = arg;

	return f->conf.wall_now(f->conf.arg);
}

static int open_enrol(struct site_admin *f, struct err *e)
{
	const struct enrol_service_conf c = { .loop = f->conf.loop,
					      .ca = f->conf.ca,
					      .tokens = f->conf.tokens,
					      .certs = f->conf.certs,
					      .cert_lifetime = SITE_ADMIN_CERT_LIFETIME_NS,
					      .wall_now = wall_now,
					      .choose_site = choose_site,
					      .arg = f,
					      .observer_lifetime =
						      SITE_ADMIN_JOIN_CERT_LIFETIME_NS };

	if (!f->conf.ca)
		return 0;
	f->enrol = enrol_service_new(&c);
	return f->enrol ? 0 : err_nomem(e);
}

int site_admin_open(const struct site_admin_conf *conf, struct site_admin **out, struct err *e)
{
	struct site_admin *f = calloc(1, sizeof(*f));
	const struct net_listen_conf l = { .addr = conf->listen,
					   .port = conf->port,
					   .roles = ROLES_TOOL,
					   .enrol_type = conf->ca ? MSG_ENROL : 0 };
	const struct net_accept a = { on_accept, on_refused, f };
	int rc;

	if (!f)
		return err_nomem(e);
	f->conf = *conf;
	f->started = loop_now(conf->loop);
	list_init(&f->visitors);
	rc = open_enrol(f, e);
	if (!rc)
		rc = net_listen(conf->ctx, &l, &a, &f->listener, e);
	if (rc) {
		site_admin_free(f);
		return rc;
	}
	*out = f;
	return 0;
}

void site_admin_free(struct site_admin *f)
{
	if (!f)
		return;
	net_listener_close(f->listener);
	list_each_safe (i, &f->visitors)
		visitor_free(list_entry(i, struct visitor, in_visitors), "the sm ends");
	enrol_service_free(f->enrol);
	free(f);
}

uint16_t site_admin_port(const struct site_admin *f)
{
	return net_listener_port(f->listener);
}
