/* SPDX-License-Identifier: Apache-2.0 */
/* New connections: enrolling peers, tools, sms, and lms that are sent to the sm of their site. */
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/omis/text/token.h"
#include "mainsm/mainsm_internal.h"
#include "mainsm/places.h"

#include <stdlib.h>
#include <string.h>

static int site_numbers(struct mainsm *m, const struct identity *id, struct msg_hello_ack *ack,
			struct err *why)
{
	struct site *site;
	int rc = sites_get(m->sites, id->site, &site, why);

	if (rc)
		return rc;
	if (numbers_site(m->numbers, id->site, &ack->site_number))
		return err_set(why, ERR_LIMIT, "no number is left for the site");
	ack->site = site->name;
	return 0;
}

void mainsm_start_failed(struct mainsm *m, const char *name, const char *why)
{
	struct site *site = sites_find(m->sites, name);

	if (!site || !site->is_starting)
		return;
	if (site_start_failed(site, loop_now(m->conf.loop)))
		log_warn(
			"sites",
			"the sm of site=%s could not be started in %d tries (%s): its hosts are served without one",
			name, SITE_START_TRIES, why);
	else
		log_info("sites", "the sm of site=%s did not start: %s", name, why);
}

static void start_sm(struct mainsm *m, struct site *site)
{
	struct token_grant grant = { .roles = ROLE_BIT(ROLE_SM), .uses = 1, .is_volatile = true };
	nsec_t wall = m->conf.wall_now(m->conf.arg);
	struct token_text token;
	struct err e = { 0 };
	int rc;

	site_started(m->sites, site, loop_now(m->conf.loop));
	str_copy(grant.site, sizeof(grant.site), site->name);
	grant.wall_until = wall + MAINSM_SM_TOKEN_NS;
	rc = m->conf.start_sm ? tokens_mint(m->tokens, &grant, wall, &token, &e)
			      : err_set(&e, ERR_UNSUPPORTED, "mainsm has no launcher for the sm");
	if (!rc)
		rc = m->conf.start_sm(m->conf.arg, site, site_launcher(m->sites, site), &token, &e);
	str_wipe(&token, sizeof(token));
	if (rc)
		mainsm_start_failed(m, site->name, e.text);
	else
		log_notice("sites", "starting the sm of site=%s try=%u", site->name, site->tries);
}

/* Decides where to send the lm. */
static void direct(struct mainsm *m, struct site *site, struct msg_hello_ack *ack)
{
	enum site_answer answer = site_ask(m->sites, site, loop_now(m->conf.loop));

	if (answer == SITE_START) {
		start_sm(m, site);
		answer = site_ask(m->sites, site, loop_now(m->conf.loop));
		if (answer == SITE_START)
			answer = SITE_WAIT; /* the next request tries again */
	}
	ack->redirect = answer == SITE_GO ? site->address : answer == SITE_WAIT ? "wait" : "";
	ack->retry_ms = answer == SITE_WAIT ? SITE_RETRY_MS : 0;
}

/*
 * A site has one sm, a host one lm. The same certificate again means the same daemon after a
 * restart, which replaces the earlier connection. A daemon with another one waits until the first
 * has ended; otherwise the two would replace each other again and again.
 */
static int check_place(struct mainsm *m, const struct identity *id, enum token_kind kind,
		       uint32_t number, struct err *why)
{
	const struct identity *holder;
	const struct branch *c;
	struct token t;

	c = branches_find(m->branches, token_print_number(&t, kind, number));
	holder = c ? link_identity(c->link) : NULL;
	if (!holder || !memcmp(holder->serial, id->serial, SERIAL_BYTES))
		return 0;
	return err_set(why, ERR_AGAIN, "%s has a daemon already that answers",
		       kind == TOKEN_SITE ? id->site : id->host);
}

static int hello_lm(struct peer *p, const struct msg_hello *h, const struct identity *id,
		    struct msg_hello_ack *ack, struct err *why)
{
	struct mainsm *m = p->m;
	struct site *site;
	int rc;

	if ((h->host[0] && !str_eq(h->host, id->host)) ||
	    (h->site[0] && !str_eq(h->site, id->site)))
		return err_set(
			why, ERR_DENIED,
			"the certificate is for another host or site: remove it and enrol again");
	if (!identity_host_is_valid(id->host))
		return err_set(
			why, ERR_DENIED,
			"the certificate is for what is not a host's name: remove it and enrol again");
	rc = site_numbers(m, id, ack, why);
	if (rc)
		return rc;
	if (numbers_node(m->numbers, id->site, id->host, &ack->node))
		return err_set(why, ERR_LIMIT, "no number is left for the host");
	site = sites_find(m->sites, id->site);
	ack->redirect = "";
	if (h->want_redirect)
		direct(m, site, ack);
	p->is_passing = ack->redirect[0] != 0;
	p->attach = h->attach ? h->attach : h->epoch;
	return p->is_passing ? 0 : check_place(m, id, TOKEN_NODE, ack->node, why);
}

static int hello_sm(struct peer *p, const struct msg_hello *h, const struct identity *id,
		    struct msg_hello_ack *ack, struct err *why)
{
	struct mainsm *m = p->m;
	int rc;

	if (h->site[0] && !str_eq(h->site, id->site))
		return err_set(why, ERR_DENIED, "the certificate is for site %s", id->site);
	rc = site_numbers(m, id, ack, why);
	if (rc)
		return rc;
	p->is_passing = h->want_redirect;
	if (p->is_passing) {
		direct(m, sites_find(m->sites, id->site), ack);
		return 0;
	}
	rc = check_place(m, id, TOKEN_SITE, ack->site_number, why);
	if (rc)
		return rc;
	p->listen = str_dup(h->listen);
	return p->listen ? 0 : err_nomem(why);
}

static int hello_tool(struct peer *p, const struct msg_hello *h, const struct identity *id,
		      struct msg_hello_ack *ack, struct err *why)
{
	struct mainsm *m = p->m;
	int rc = places_reserve(m, id, why);

	if (rc)
		return rc;
	ack->tool = (uint32_t)numbers_mint(m->numbers, NUMBER_TOOL);
	p->number = ack->tool;
	p->epoch = h->epoch;
	return 0;
}

static int on_hello(void *arg, struct link *l, const struct msg_hello *h, struct msg_hello_ack *ack,
		    struct err *why)
{
	struct mainsm *m = arg;
	const struct identity *id = link_identity(l);
	struct peer *p = link_user(l);

	if (m->is_closing)
		return err_set(why, ERR_AGAIN, "mainsm is ending");
	if (!id)
		return err_set(why, ERR_DENIED, "a certificate is required");
	ack->name = id->host;
	ack->site = id->site;
	switch (id->role) {
	case ROLE_LM:
		return hello_lm(p, h, id, ack, why);
	case ROLE_SM:
		return hello_sm(p, h, id, ack, why);
	case ROLE_TOOL_OBSERVE:
	case ROLE_TOOL_MANIPULATE:
	case ROLE_TOOL_ADMIN:
		return hello_tool(p, h, id, ack, why);
	case ROLE_FACTORY:
	case ROLE_RECEIVER:
		peer_serves(p);
		return 0;
	default:
		return err_set(why, ERR_DENIED, "this role is not permitted here");
	}
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	const struct identity *id = link_identity(l);
	struct peer *p = link_user(l);
	int rc = 0;

	if (p->is_server)
		mainsm_send_revoked(p->m, p);
	else if (p->is_passing)
		rc = 0;
	else if (id->role == ROLE_SM || id->role == ROLE_LM)
		rc = mainsm_branch_up(p, id);
	else
		rc = mainsm_tool_up(p, id, p->number);
	if (rc)
		link_fail(l, MSG_ERR_INTERNAL, "no room for one more");
}

static void on_msg(void *arg, struct link *l, const struct msg *msg)
{
	struct peer *p = link_user(l);

	if (p && (p->is_passing || p->is_server) && msg->type == MSG_ENROL)
		peer_renew(p, &msg->enrol); /* its own sm cannot issue certificates */
	else if (p && p->branch)
		mainsm_branch_msg(p, msg);
	else if (p && p->session)
		mainsm_tool_msg(p, msg);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	struct peer *p = link_user(l);

	link_log_fault(l);
	if (p)
		peer_free(p, why->text);
}

static void on_gone(void *arg, struct link *l)
{
	struct peer *p = link_user(l);

	link_log_fault(l);
	if (p)
		peer_free(p, "never came up");
}

/* Consumes *c on success. */
static int accept_peer(struct mainsm *m, struct chan **c)
{
	struct link_conf conf = {
		.loop = m->conf.loop,
		.rng = m->conf.rng,
		.timebase = m->conf.timebase,
		.epoch = m->conf.epoch,
		.tool_queue_cap = m->conf.tool_queue_cap,
		.listener = m->listener,
		.handler = { .on_hello = on_hello,
			     .on_up = on_up,
			     .on_msg = on_msg,
			     .on_down = on_down,
			     .on_gone = on_gone,
			     .arg = m },
	};
	struct peer *p = peer_new(m);

	if (!p)
		return -ERR_NOMEM;
	p->link = link_accept(&conf, c);
	if (!p->link) {
		peer_free(p, "no memory");
		return -ERR_NOMEM;
	}
	link_set_user(p->link, p);
	return 0;
}

void greet_accept(void *arg, struct chan *c)
{
	struct mainsm *m = arg;

	if (m->is_closing)
		chan_close(c, "going down");
	else if (chan_is_enrol(c) && m->enrol)
		enrol_service_take(m->enrol, c);
	else if (chan_is_enrol(c) || accept_peer(m, &c))
		chan_close(c, "not taken");
}

void greet_refused(void *arg, const char *remote, const struct err *why)
{
	log_warn("net", "refused %s: %s", remote, why->text);
}
