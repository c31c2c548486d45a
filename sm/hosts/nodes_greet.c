/* SPDX-License-Identifier: Apache-2.0 */
/* Peers that connect from below: lms, and sms with hosts. */
#include "common/base/str.h"
#include "common/net/identity.h"
#include "sm/hosts/nodes_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- admission */

static int check_hello(const struct nodes *ns, const struct link *l, const struct msg_hello *h,
		       struct err *why)
{
	const struct identity *id = link_identity(l);

	if (ns->is_closed)
		return err_set(why, ERR_AGAIN, "this sm is ending");
	if (!id || (id->role != ROLE_LM && id->role != ROLE_SM))
		return err_set(why, ERR_DENIED, "only lms connect to an sm; tools go to mainsm");
	if (!str_eq(id->site, ns->site))
		return err_set(why, ERR_DENIED,
			       "this is the sm of site %s, the certificate is for site %s",
			       ns->site, id->site);
	if (h->site[0] && !str_eq(h->site, ns->site))
		return err_set(why, ERR_DENIED, "this is the sm of site %s, not of %s", ns->site,
			       h->site);
	if (!id->host[0] || !str_eq(h->host, id->host))
		return err_set(why, ERR_DENIED, "the certificate is for host %s, not for %s",
			       id->host, h->host);
	return 0;
}

/* The earlier connection is dead, although its link has not failed yet. The branch of an sm may end
 * with it. */
static void supersede(struct nodes *ns, struct branch *b)
{
	if (!b->link)
		return;
	link_close(b->link, "a newer connection of this host took its place");
	branch_down(ns, b, "it connected again");
}

/* --- an lm */

static int new_branch(struct nodes *ns, const struct msg_hello *h, struct branch **out,
		      struct err *why)
{
	int rc = branches_add(ns->branches, false, out);

	if (rc)
		return err_set(why, (enum err_code)(-rc), "no room for another host");
	str_copy((*out)->host, sizeof((*out)->host), h->host);
	snprintf((*out)->name, sizeof((*out)->name), "n_%u", h->node);
	return 0;
}

static int add_lm(struct nodes *ns, const struct claim *c, const struct msg_hello *h,
		  struct node **out, struct err *why)
{
	struct branch *b;
	int rc = new_branch(ns, h, &b, why);

	if (rc)
		return rc;
	rc = nodes_add(ns, c, b, out, why);
	if (rc)
		branches_remove(ns->branches, b);
	else
		(*out)->has_past = c->attach > h->epoch;
	return rc;
}

/* Moves a node from another sm to this one, to which it has connected. */
static int bring_home(struct nodes *ns, struct node *n, const struct msg_hello *h, struct err *why)
{
	struct branch *b;
	int rc = new_branch(ns, h, &b, why);

	if (!rc)
		node_move(ns, n, b);
	return rc;
}

static int admit_lm(struct nodes *ns, struct link *l, const struct msg_hello *h, struct err *why)
{
	const struct claim c = { .number = h->node,
				 .host = h->host,
				 .attach = h->attach ? h->attach : h->epoch };
	struct node *n;
	int rc;

	if (!h->node)
		return err_set(why, ERR_AGAIN, "no node number: mainsm gives one, ask there first");
	rc = nodes_check(ns, &c, why);
	if (rc)
		return rc;
	n = nodes_find(ns, h->node);
	if (n && node_is_up(n) && c.attach < n->attach)
		return err_set(why, ERR_DENIED, "a younger lm of host %s is connected already",
			       h->host);
	if (!n)
		rc = add_lm(ns, &c, h, &n, why);
	else if (n->branch->is_sm)
		rc = bring_home(ns, n, h, why);
	else
		supersede(ns, n->branch);
	if (rc)
		return rc;
	n->attach = c.attach;
	link_set_user(l, n->branch);
	return 0;
}

/* --- an sm */

static int fill_sm(const struct nodes *ns, struct branch *b, const struct identity *id,
		   const struct msg_hello *h)
{
	char *listen = str_dup(h->listen);

	if (!listen)
		return -ERR_NOMEM;
	free(b->listen);
	b->listen = listen;
	memcpy(b->serial, id->serial, SERIAL_BYTES);
	str_copy(b->host, sizeof(b->host), id->host);
	snprintf(b->name, sizeof(b->name), "s_%u", ns->site_number);
	return 0;
}

static int admit_sm(struct nodes *ns, struct link *l, const struct msg_hello *h, struct err *why)
{
	const struct identity *id = link_identity(l), *self = net_ctx_self(ns->conf.ctx);
	struct branch *b = branches_find_sm(ns->branches, id->serial);
	int rc = 0;

	if (!ns->site_number)
		return err_set(why, ERR_AGAIN, "this sm is not connected to mainsm yet");
	if (self && !memcmp(self->serial, id->serial, SERIAL_BYTES))
		return err_set(why, ERR_DENIED, "an sm is not its own parent");
	if (b)
		supersede(ns, b);
	b = branches_find_sm(ns->branches, id->serial);
	if (!b)
		rc = branches_add(ns->branches, true, &b);
	if (!rc)
		rc = fill_sm(ns, b, id, h);
	if (rc)
		return err_set(why, (enum err_code)(-rc), "no room for another sm");
	link_set_user(l, b);
	return 0;
}

/* --- lms to be served by a lower sm */

static struct branch *better_for(struct nodes *ns, const struct msg_hello *h)
{
	struct branches_sum sum;

	if (!h->want_redirect)
		return NULL;
	branches_sum(ns->branches, &sum);
	if (!sum.sms || sum.lms < ns->conf.fan_in)
		return NULL;
	return branches_choose_sm(ns->branches, loop_now(ns->conf.loop));
}

static int on_hello(void *arg, struct link *l, const struct msg_hello *h, struct msg_hello_ack *ack,
		    struct err *why)
{
	struct nodes *ns = arg;
	struct branch *other = NULL;
	int rc = check_hello(ns, l, h, why);

	if (!rc && link_identity(l)->role == ROLE_SM)
		rc = admit_sm(ns, l, h, why);
	else if (!rc && !(other = better_for(ns, h)))
		rc = admit_lm(ns, l, h, why);
	if (rc) {
		ns->stats.refused++;
		return rc;
	}
	ack->name = ns->name;
	ack->node = h->node;
	ack->site_number = ns->site_number;
	ack->site = ns->site;
	ack->level = ns->level;
	ack->parents = ns->ways ? ns->ways : "";
	ack->redirect = other ? other->listen : "";
	return 0;
}

/* Follows on_hello at once, in the same call. */
static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct nodes *ns = arg;
	struct branch *b = link_user(l);

	map_del(&ns->greeting, (uint64_t)(uintptr_t)l);
	if (b) {
		branch_up(ns, b, l);
		return;
	}
	ns->stats.sent_on++;
	link_close(l, "another sm serves you");
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct nodes *ns = arg;

	ns->conf.handler.on_msg(ns->conf.handler.arg, link_user(l), m);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	link_log_fault(l);
	branch_down(arg, link_user(l), why->text);
}

static void on_gone(void *arg, struct link *l)
{
	struct nodes *ns = arg;
	struct branch *b = link_user(l);

	link_log_fault(l);
	map_del(&ns->greeting, (uint64_t)(uintptr_t)l);
	if (b)
		branch_gone_if_empty(ns, b);
}

static void on_accept(void *arg, struct chan *c)
{
	struct nodes *ns = arg;
	struct link *l = NULL;

	if (ns->greeting.n < NODES_GREETING_MAX)
		l = link_accept(&ns->link, &c);
	if (!l) {
		ns->stats.refused++;
		chan_close(c, "no room for another connection");
		return;
	}
	if (map_put(&ns->greeting, (uint64_t)(uintptr_t)l, l, NULL))
		link_close(l, "no memory");
}

static void on_refused(void *arg, const char *remote, const struct err *why)
{
	struct nodes *ns = arg;

	ns->stats.refused++;
	ns->conf.handler.on_refused(ns->conf.handler.arg, remote, why->text);
}

/* --- life */

static int listen_for_branches(struct nodes *ns, struct err *e)
{
	const struct net_listen_conf conf = {
		.addr = ns->conf.listen,
		.port = ns->conf.port,
		.roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM),
	};
	const struct net_accept accept = { on_accept, on_refused, ns };

	return net_listen(ns->conf.ctx, &conf, &accept, &ns->listener, e);
}

static void set_link_conf(struct nodes *ns)
{
	ns->link = (struct link_conf){
		.loop = ns->conf.loop,
		.rng = ns->conf.rng,
		.timebase = ns->conf.timebase,
		.epoch = ns->conf.epoch,
		.queue_cap = ns->conf.queue_cap,
		.meter = ns->conf.meter,
		.listener = ns->listener,
		.handler = { .on_hello = on_hello,
			     .on_up = on_up,
			     .on_msg = on_msg,
			     .on_down = on_down,
			     .on_gone = on_gone,
			     .arg = ns },
	};
}

int nodes_listen(struct nodes *ns, struct err *e)
{
	int rc = listen_for_branches(ns, e);

	if (!rc)
		set_link_conf(ns);
	return rc;
}
