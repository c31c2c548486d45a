/* SPDX-License-Identifier: Apache-2.0 */
/* The branches: their reports about hosts, their replies, and events. */
#include "mainsm/mainsm_internal.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/omis/text/token.h"

#include <stdlib.h>

#define REVOKED_PART 1000 /* serials in one message */

static int site_object(struct mainsm *m, const char *name, struct object **out)
{
	uint32_t number;
	int rc = numbers_site(m->numbers, name, &number);

	return rc ? rc : directory_add_site(m->directory, number, name, out);
}

/*
 * Drops an older branch for the same site or host: its connection is dead, and its link has not
 * failed yet.
 */
static void drop_older(struct mainsm *m, const char *token)
{
	const struct branch *older = branches_find(m->branches, token);

	if (older)
		peer_end(link_user(older->link), "another one has come for the same site or host");
}

/* Creates the node of an lm that no sm serves. */
static int node_of_lm(struct peer *p, const struct identity *id, struct object *site)
{
	struct object *node;
	nsec_t now = loop_now(p->m->conf.loop);
	int rc = directory_add_node(p->m->directory, p->branch->number, id->host, site, now, &node);

	if (rc)
		return rc;
	directory_serve(p->m->directory, node, p->branch->index + 1, p->attach);
	directory_set_sub(p->m->directory, node, MSG_NODE_UP, now);
	return 0;
}

static void send_to_link(void *arg, const struct msg *msg)
{
	link_send(arg, msg);
}

static void on_end(struct peer *p, const char *reason)
{
	struct mainsm *m = p->m;
	struct branch *c = p->branch;
	struct site *site = c->is_sm ? sites_find(m->sites, c->site) : NULL;

	log_info("branches", "down branch=%s: %s", c->name, reason);
	p->branch = NULL;
	if (site)
		site_set_address(site, "");
	directory_branch_lost(m->directory, c->index + 1, loop_now(m->conf.loop));
	executor_branch_lost(m->executor, c->index,
			     c->is_sm ? "the site's sm is lost" : "the host is lost");
	subscriptions_branch_lost(m->subscriptions, c->index);
	tool_csrs_branch_lost(m->csrs, c->index);
	measures_branch_lost(m->measures, c->index);
	branches_remove(m->branches, c);
}

static int add_branch(struct peer *p, const struct identity *id, uint32_t number, const char *name)
{
	int rc = branches_add(p->m->branches, id->role == ROLE_SM, &p->branch);

	if (rc)
		return rc;
	p->on_end = on_end;
	p->branch->link = p->link;
	p->branch->number = number;
	str_copy(p->branch->site, sizeof(p->branch->site), id->site);
	str_copy(p->branch->name, sizeof(p->branch->name), name);
	return 0;
}

int mainsm_branch_up(struct peer *p, const struct identity *id)
{
	struct mainsm *m = p->m;
	struct object *site;
	uint32_t number = 0;
	struct token t;
	char text[ERR_TEXT_BYTES];
	int rc = site_object(m, id->site, &site);

	if (!rc && id->role == ROLE_LM)
		rc = numbers_node(m->numbers, id->site, id->host, &number);
	if (rc)
		return rc;
	if (id->role == ROLE_SM)
		number = site->number;
	token_print_number(&t, id->role == ROLE_SM ? TOKEN_SITE : TOKEN_NODE, number);
	drop_older(m, t.s);
	rc = add_branch(p, id, number, t.s);
	if (!rc && id->role == ROLE_LM)
		rc = node_of_lm(p, id, site);
	/* set now and not at its HELLO, because an older branch has just removed the address */
	if (!rc && id->role == ROLE_SM)
		rc = site_set_address(sites_find(m->sites, id->site), p->listen);
	if (rc)
		return rc;
	log_info("branches", "up branch=%s %s", t.s, identity_describe(text, sizeof(text), id));
	mainsm_send_revoked(m, p);
	missed_send(&m->missed, send_to_link, p->link);
	subscriptions_branch_up(m->subscriptions, p->branch);
	tool_csrs_follow_soon(m->csrs);
	measures_follow_soon(m->measures);
	return 0;
}

/* The message names objects that are not its own: logged once, without effect. */
static void forged(struct peer *p, const struct err *why)
{
	p->m->forged++;
	log_warn("branches", "branch=%s: %s", p->branch->name, why->text);
}

/* Reports a false claim to the sm, which can refuse the host. */
static void disown(struct peer *p, uint32_t node, const char *host)
{
	link_send(p->link,
		  &(struct msg){ .type = MSG_DISOWN, .disown = { .node = node, .host = host } });
}

/* A node's number must be the one assigned to a host of that name in this branch's site. */
static int check_number(struct peer *p, const struct msg_directory *d, const char **host,
			struct err *e)
{
	const struct msg_object *o = branches_find_host(d);
	uint32_t number = 0;
	int rc;

	if (!p->branch->is_sm)
		return d->node == p->branch->number
			       ? 0
			       : err_set(e, ERR_DENIED, "names node %u", d->node);
	if (!o || !o->host[0])
		return err_set(e, ERR_PROTO, "does not name the host of node %u", d->node);
	if (!identity_host_is_valid(o->host))
		return err_set(e, ERR_PROTO, "the host of node %u is not a host's name", d->node);
	rc = numbers_node(p->m->numbers, p->branch->site, o->host, &number);
	if (rc)
		return err_set(e, (enum err_code)(-rc), "no number for host %s", o->host);
	*host = o->host;
	return number == d->node
		       ? 0
		       : err_set(e, ERR_DENIED, "node %u is not a host of its site by that name",
				 d->node);
}

/*
 * True if another daemon of this site serves the host. An sm that was stopped still has hosts that
 * have found another parent. An lm reports its own host only, which is up. A claim to a host of
 * another site is forged, and not such a case.
 */
static bool is_fenced(const struct peer *p, const struct object *node,
		      const struct msg_directory *d)
{
	static const struct msg_object up = { .sub = MSG_NODE_UP };
	bool is_sm = p->branch->is_sm;

	if (!node || !node->server || node->server == p->branch->index + 1 ||
	    !str_eq(node->parent->name, p->branch->site))
		return false;
	return branches_fence(&(struct host_owned){ node->sub == MSG_NODE_UP, true, node->attach },
			      is_sm ? branches_find_host(d) : &up, is_sm ? d->attach : p->attach);
}

/* Notes that this branch serves the node from now on. */
static int adopt(struct peer *p, const struct msg_directory *d, struct err *e)
{
	struct mainsm *m = p->m;
	struct object *node = directory_node(m->directory, d->node), *site;
	const char *host = "";
	int rc;

	if (node && node->server == p->branch->index + 1) {
		if (d->attach > node->attach)
			node->attach = d->attach;
		return 0;
	}
	rc = check_number(p, d, &host, e);
	if (rc == -ERR_DENIED && *host)
		disown(p, d->node, host);
	if (rc)
		return rc;
	rc = site_object(m, p->branch->site, &site);
	if (!rc)
		rc = directory_add_node(m->directory, d->node, host, site, loop_now(m->conf.loop),
					&node);
	if (rc)
		return err_set(e, (enum err_code)(-rc), "no room for node %u", d->node);
	directory_serve(m->directory, node, p->branch->index + 1,
			p->branch->is_sm ? d->attach : p->attach);
	return 0;
}

static void got_directory(struct peer *p, const struct msg_directory *d)
{
	struct err e = { 0 };
	const struct object *node = directory_node(p->m->directory, d->node);
	const struct msg_object *o = branches_find_host(d);
	int rc;

	/* The last report about a host that was removed here. */
	if (!node && o && o->op == MSG_OP_GONE)
		return;
	if (is_fenced(p, node, d))
		return;
	rc = adopt(p, d, &e);
	if (!rc)
		rc = directory_apply(p->m->directory, p->branch->index + 1, d,
				     loop_now(p->m->conf.loop), &e);
	if (rc)
		forged(p, &e);
}

void mainsm_branch_msg(struct peer *p, const struct msg *msg)
{
	struct mainsm *m = p->m;
	struct err e = { 0 };
	int rc = 0;

	switch (msg->type) {
	case MSG_DIRECTORY:
		got_directory(p, &msg->directory);
		break;
	case MSG_REPLY:
		rc = executor_reply(m->executor, p->branch->index, &msg->reply, &e);
		break;
	case MSG_ARM_ACK:
		rc = tool_csrs_armed(m->csrs, p->branch->index, &msg->arm_ack, &e);
		break;
	case MSG_TRIGGERED:
		rc = tool_csrs_triggered(m->csrs, p->branch->index, &msg->triggered, &e);
		break;
	case MSG_LOSSES:
		rc = tool_csrs_losses(m->csrs, p->branch->index, &msg->losses, &e);
		break;
	case MSG_FLOW_ACK:
		rc = measures_loaded(m->measures, p->branch->index, &msg->flow_ack, &e);
		break;
	case MSG_EVENTS:
		subscriptions_events(m->subscriptions, p->branch->index, &msg->events);
		break;
	case MSG_FLOW_BATCH:
		rc = measures_batch(m->measures, p->branch->index, &msg->flow_batch, &e);
		break;
	case MSG_ENROL:
		peer_renew(p, &msg->enrol);
		break;
	default:
		break;
	}
	if (rc && rc != -ERR_NOTFOUND)
		forged(p, &e);
}

struct revoked_list {
	struct mainsm *m;
	struct peer *only;
	struct bytes serial[REVOKED_PART];
	uint8_t bytes[REVOKED_PART][SERIAL_BYTES];
	size_t n;
};

static void send_to_all(struct mainsm *m, const struct msg *msg)
{
	branches_send_all(m->branches, msg);
	list_each (i, &m->peers) {
		const struct peer *p = list_entry(i, struct peer, in_peers);

		if (p->is_server)
			link_send(p->link, msg);
	}
}

static void flush_revoked(struct revoked_list *r)
{
	struct msg msg = { .type = MSG_REVOKED, .revoked = { r->serial, r->n } };

	if (!r->n)
		return;
	if (r->only)
		link_send(r->only->link, &msg);
	else
		send_to_all(r->m, &msg);
	r->n = 0;
}

static void add_revoked(void *arg, const uint8_t serial[SERIAL_BYTES])
{
	struct revoked_list *r = arg;

	memcpy(r->bytes[r->n], serial, SERIAL_BYTES);
	r->serial[r->n] = (struct bytes){ r->bytes[r->n], SERIAL_BYTES };
	if (++r->n == REVOKED_PART)
		flush_revoked(r);
}

void mainsm_send_revoked(struct mainsm *m, struct peer *only)
{
	struct revoked_list *r = calloc(1, sizeof(*r));

	if (!r)
		return;
	r->m = m;
	r->only = only;
	certs_each_revoked(m->certs, add_revoked, r);
	flush_revoked(r);
	free(r);
}
