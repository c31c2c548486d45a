/* SPDX-License-Identifier: Apache-2.0 */
#include "common/authority/enrol_service.h"

#include "common/base/array.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/net/chan.h"

#include <stdlib.h>
#include <string.h>

/* Certificates begin this much earlier, so that a host whose clock is slow can use them at once. */
#define CLOCK_SKEW_NS (300 * NSEC_PER_SEC)

struct enrol_service {
	struct enrol_service_conf conf;
	struct list visitors;
	char error[ERR_TEXT_BYTES]; /* text of the last answer */
};

struct visitor {
	struct enrol_service *service;
	struct chan *chan;
	struct loop_timer *timer;
	struct list in_visitors;
};

struct enrol_service *enrol_service_new(const struct enrol_service_conf *conf)
{
	struct enrol_service *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->conf = *conf;
	list_init(&s->visitors);
	return s;
}

static void visitor_end(struct visitor *v, const char *reason)
{
	chan_close(v->chan, reason);
	loop_timer_free(v->timer);
	list_del(&v->in_visitors);
	free(v);
}

void enrol_service_free(struct enrol_service *s)
{
	if (!s)
		return;
	list_each_safe (i, &s->visitors)
		visitor_end(list_entry(i, struct visitor, in_visitors), "going down");
	free(s);
}

/* Returns the requested roles. "tool" requests the highest role of the token. */
static unsigned claimed_roles(const char *role)
{
	if (str_eq(role, "tool"))
		return ROLES_TOOL;
	return ROLE_BIT(role_from_name(role)) & ~(ROLE_BIT(ROLE_NONE) | ROLE_BIT(ROLE_MAINSM));
}

static enum role granted_role(unsigned roles)
{
	static const enum role best_first[] = { ROLE_TOOL_ADMIN,   ROLE_TOOL_MANIPULATE,
						ROLE_TOOL_OBSERVE, ROLE_SM,
						ROLE_LM,	   ROLE_FACTORY,
						ROLE_RECEIVER };

	for (size_t i = 0; i < ARRAY_LEN(best_first); i++)
		if (roles & ROLE_BIT(best_first[i]))
			return best_first[i];
	return ROLE_NONE;
}

/* The contents of a certificate to be issued. */
struct terms {
	struct identity as;
	nsec_t life, limit; /* limit: as in cert.wall_limit */
};

static bool is_label(const char *s)
{
	return str_is_name(s, strlen(s)) && !strchr(s, '/');
}

/*
 * Takes the names of a request. A tool's host is a label of its choice; its owner is the token's.
 */
static int take_names(const struct msg_enrol *m, bool is_tool, struct identity *as, struct err *e)
{
	const char *host = is_tool && m->name[0] ? m->name : m->host;
	char uri[IDENTITY_URI_BYTES];
	int rc;

	if (is_tool ? !is_label(host) : !identity_host_is_valid(host))
		return err_set(e, ERR_INVALID,
			       "the request names no host: letters, digits, '.', '_', '-', ':'");
	str_copy(as->host, sizeof(as->host), host);
	rc = identity_to_uri(uri, as, e);
	return rc || strlen(uri) <= ENROL_URI_MAX_BYTES
		       ? rc
		       : err_set(e, ERR_INVALID, "this name is too long");
}

static void take_owner(const struct token_grant *g, const char *id, struct identity *as)
{
	str_copy(as->owner, sizeof(as->owner), g->owner);
	as->has_uid = g->has_uid;
	as->uid = g->uid;
	/*
	 * Tokens of one user are equivalent. A token of another user enrols only if no certificate
	 * by another token is valid.
	 */
	if (!g->has_uid)
		str_copy(as->token, sizeof(as->token), id);
}

static int check_owner(const struct enrol_service *s, const struct identity *as, nsec_t now,
		       struct err *e)
{
	if (as->has_uid || !certs_has_owner(s->conf.certs, as->owner, as->token, now))
		return 0;
	return err_set(
		e, ERR_DENIED,
		"the name %s has a valid certificate by another token: revoke that one first",
		as->owner);
}

static nsec_t life_of(const struct enrol_service *s, enum role role)
{
	return role == ROLE_TOOL_OBSERVE && s->conf.observer_lifetime ? s->conf.observer_lifetime
								      : s->conf.cert_lifetime;
}

/* Sets the times. A tool's certificate ends with the token's limit; a daemon's is renewed. */
static void take_times(const struct enrol_service *s, const struct token_grant *g, nsec_t now,
		       struct terms *t)
{
	t->limit = g->wall_certs_until;
	t->life = life_of(s, t->as.role);
	if (t->limit && ROLES_TOOL >> t->as.role & 1)
		t->life = t->limit - now;
	if (g->job[0] && t->life > ENROL_JOB_LIFETIME_NS)
		t->life = ENROL_JOB_LIFETIME_NS;
}

/* Decides the identity that the peer may get, and fills `t`. */
static int decide(struct enrol_service *s, const struct msg_enrol *m, nsec_t now, struct terms *t,
		  struct err *e)
{
	struct token_claim claim = { .id = m->token_id,
				     .secret = m->secret.p,
				     .nsecret = m->secret.n,
				     .roles = claimed_roles(m->role) };
	struct token_grant grant;
	/* the certificate is that of a user, and of no site */
	bool is_tool = claim.roles & (ROLES_TOOL | ROLES_SERVER);
	const char *site = "";
	int rc;

	/* The token is checked first: without one, a peer gets no other information. */
	claim.site = m->site;
	rc = tokens_check(s->conf.tokens, &claim, now, &grant, e);
	if (rc)
		return rc;
	t->as.role = granted_role(grant.roles & claim.roles);
	take_owner(&grant, m->token_id, &t->as);
	rc = check_owner(s, &t->as, now, e);
	if (!rc)
		rc = take_names(m, is_tool, &t->as, e);
	if (!rc && !is_tool)
		rc = s->conf.choose_site(s->conf.arg, m->site, m->host, &site, e);
	str_copy(t->as.site, sizeof(t->as.site), site);
	take_times(s, &grant, now, t);
	return rc;
}

static int issue(struct enrol_service *s, struct terms *t, struct bytes csr, struct buf *cert,
		 struct err *e)
{
	nsec_t now = s->conf.wall_now(s->conf.arg);
	struct identity issued;
	char who[ERR_TEXT_BYTES];
	int rc;

	t->as.wall_not_before = now - CLOCK_SKEW_NS;
	t->as.wall_not_after = now + t->life;
	if (t->limit && t->as.wall_not_after > t->limit)
		t->as.wall_not_after = t->limit;
	rc = pki_ca_issue(s->conf.ca, csr, &t->as, cert, e);
	if (!rc)
		rc = pki_identity_from_der(&issued, cert->p, cert->n, e);
	if (!rc)
		rc = certs_add(s->conf.certs, &issued, t->limit, now, e);
	if (!rc)
		log_info("enrol", "certificate issued to %s",
			 identity_describe(who, sizeof(who), &issued));
	return rc;
}

static void fill_ack(struct enrol_service *s, int rc, const struct err *why, const struct buf *cert,
		     struct msg_enrol_ack *ack)
{
	size_t n;

	*ack = (struct msg_enrol_ack){ .error = "" };
	if (rc) {
		str_copy(s->error, sizeof(s->error), why->text[0] ? why->text : "refused");
		ack->error = s->error;
		return;
	}
	ack->cert_der = (struct bytes){ cert->p, cert->n };
	ack->ca_der.p = pki_ca_der(s->conf.ca, &n);
	ack->ca_der.n = n;
}

void enrol_service_grant(struct enrol_service *s, const struct msg_enrol *m, struct buf *cert,
			 struct msg_enrol_ack *ack)
{
	nsec_t now = s->conf.wall_now(s->conf.arg);
	struct terms t = { .limit = 0 };
	struct err why = { 0 };
	int rc = decide(s, m, now, &t, &why);

	/*
	 * The use is counted before the certificate exists: a crash in between costs a use, but
	 * never grants two.
	 */
	if (!rc)
		rc = tokens_use(s->conf.tokens, m->token_id, now, &why);
	if (!rc)
		rc = issue(s, &t, m->csr_der, cert, &why);
	if (rc)
		log_warn("enrol", "enrolment refused: %s", why.text);
	fill_ack(s, rc, &why, cert, ack);
}

static int may_renew(const struct enrol_service *s, const struct identity *who, nsec_t now,
		     struct err *e)
{
	nsec_t half = (who->wall_not_after - who->wall_not_before) / 2;
	const struct cert *cert = certs_find(s->conf.certs, who->serial);

	if (!cert)
		return err_set(e, ERR_DENIED,
			       "this certificate is not in the list of those that are valid");
	if (cert->revoked)
		return err_set(e, ERR_DENIED, "this certificate is revoked");
	if (now < who->wall_not_before + half)
		return err_set(e, ERR_AGAIN,
			       "less than half of the life of this certificate is over");
	if (cert->wall_limit && who->wall_not_after + NSEC_PER_SEC >= cert->wall_limit)
		return err_set(
			e, ERR_DENIED,
			"it ends with the token that it came by: take a new connection string");
	if (now - certs_issued_last(s->conf.certs, who) < ENROL_RENEW_MIN_NS)
		return err_set(e, ERR_AGAIN,
			       "another one for the same names was issued a moment ago");
	return 0;
}

/*
 * Sets the terms of a renewal: the new certificate is valid at most as long as the previous one
 * was.
 */
static void renewal_terms(const struct enrol_service *s, const struct identity *who,
			  struct terms *t)
{
	nsec_t before = who->wall_not_after - who->wall_not_before - CLOCK_SKEW_NS;

	t->as = *who;
	t->life = life_of(s, who->role);
	t->limit = certs_find(s->conf.certs, who->serial)->wall_limit;
	if (t->life > before && before > 0)
		t->life = before;
}

void enrol_service_renew(struct enrol_service *s, const struct identity *who,
			 const struct msg_enrol *m, struct buf *cert, struct msg_enrol_ack *ack)
{
	struct terms t = { .limit = 0 };
	struct err why = { 0 };
	int rc = may_renew(s, who, s->conf.wall_now(s->conf.arg), &why);

	if (!rc) {
		renewal_terms(s, who, &t);
		rc = issue(s, &t, m->csr_der, cert, &why);
	}
	fill_ack(s, rc, &why, cert, ack);
}

static void answer(struct visitor *v, const struct msg_enrol *m)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES), frame = BUF_INIT(FRAME_PREAUTH_MAX_BYTES);
	struct msg_enrol_ack ack;

	enrol_service_grant(v->service, m, &cert, &ack);
	if (!msg_enrol_ack_put(&frame, &ack))
		chan_send(v->chan, frame.p, frame.n);
	buf_done(&frame);
	buf_done(&cert);
}

static void on_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct visitor *v = arg;
	struct msg *m = NULL;
	struct err why = { 0 };

	if (type == MSG_ENROL && !msg_get(type, p, n, &m, &why))
		answer(v, &m->enrol);
	else
		log_warn("enrol", "the message of %s is not an enrolment: %s", chan_remote(c),
			 why.text);
	msg_free(m);
	visitor_end(v, "enrolment is over");
}

static void on_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	if (ev == CHAN_CLOSED)
		visitor_end(arg, why ? why->text : NULL);
}

static void on_timeout(void *arg)
{
	visitor_end(arg, "no enrolment came in time");
}

void enrol_service_take(struct enrol_service *s, struct chan *c)
{
	struct visitor *v = calloc(1, sizeof(*v));

	if (v)
		v->timer = loop_timer_new(s->conf.loop, on_timeout, v);
	if (!v || !v->timer) {
		free(v);
		chan_close(c, "no memory");
		return;
	}
	v->service = s;
	v->chan = c;
	list_push_back(&s->visitors, &v->in_visitors);
	loop_timer_arm(v->timer, HELLO_MAX_NS);
	chan_set_handler(c, &(struct chan_handler){ on_frame, on_event, v });
}
