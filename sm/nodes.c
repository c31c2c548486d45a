/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/nodes.h"

#include "common/base/array.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/daemon/link.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "sm/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGE_PERIOD_NS (5 * NSEC_PER_SEC)
#define QUEUED_SUM_NS \
	(10 * NSEC_PER_MSEC) /* a limit is asked for each answer of each host: the sum is not */

struct nodes {
	struct nodes_conf conf; /* strings are the members below */
	char *site, *name;
	struct link_conf link;
	struct net_listener *listener;
	struct loop_timer *age;
	struct node **v; /* NULL: the index is free */
	size_t cap, n, up;
	struct map by_number;
	struct map greeting; /* of links without a node yet, by address */
	struct objects_total total;
	uint32_t site_number;
	bool is_closed; /* to all who come */
	bool is_draining; /* to hosts that are not known */
	struct nodes_stats stats;
	size_t queued; /* bytes, as of summed_at and with all that was sent since */
	nsec_t summed_at;
};

/* --- asking */

struct node *nodes_at(const struct nodes *ns, uint32_t index)
{
	return index < ns->cap ? ns->v[index] : NULL;
}

struct node *nodes_find(const struct nodes *ns, uint32_t number)
{
	return map_find(&ns->by_number, number);
}

uint32_t nodes_bound(const struct nodes *ns)
{
	return (uint32_t)ns->cap;
}

size_t nodes_count(const struct nodes *ns)
{
	return ns->n;
}

size_t nodes_up(const struct nodes *ns)
{
	return ns->up;
}

const struct objects_total *nodes_total(const struct nodes *ns)
{
	return &ns->total;
}

uint16_t nodes_port(const struct nodes *ns)
{
	return net_listener_port(ns->listener);
}

void nodes_set_site_number(struct nodes *ns, uint32_t number)
{
	ns->site_number = number;
}

nsec_t node_rtt(const struct node *n)
{
	nsec_t rtt = n->link ? link_rtt(n->link) : 0;

	return rtt > 0 ? rtt : 0;
}

void nodes_stats(const struct nodes *ns, struct nodes_stats *out)
{
	*out = ns->stats;
	out->rtt_max = -1;
	for (size_t i = 0; i < ns->cap; i++) {
		const struct link *l = ns->v[i] ? ns->v[i]->link : NULL;

		if (!l)
			continue;
		out->queued += link_queued(l);
		out->dropped += link_dropped(l);
		if (link_rtt(l) > out->rtt_max)
			out->rtt_max = link_rtt(l);
	}
}

static size_t queued_now(const struct nodes *ns)
{
	size_t sum = 0;

	for (size_t i = 0; i < ns->cap; i++)
		if (ns->v[i] && ns->v[i]->link)
			sum += link_queued(ns->v[i]->link);
	return sum;
}

size_t nodes_queued(struct nodes *ns)
{
	nsec_t t = loop_now(ns->conf.loop);

	if (ns->queued && t - ns->summed_at < QUEUED_SUM_NS)
		return ns->queued;
	ns->summed_at = t;
	ns->queued = queued_now(ns);
	return ns->queued;
}

/* --- states */

static nsec_t now(const struct nodes *ns)
{
	return loop_now(ns->conf.loop);
}

static void set_sub(struct nodes *ns, struct node *n, uint32_t sub)
{
	if (n->sub == sub)
		return;
	n->sub = sub;
	n->since = now(ns);
	n->has_news = true;
	ns->conf.handler.on_state(ns->conf.handler.arg, n);
}

void node_forget(struct nodes *ns, struct node *n)
{
	ns->conf.handler.on_forget(ns->conf.handler.arg, n);
	if (n->link) {
		link_close(n->link, "this host is forgotten");
		ns->up--;
	}
	map_del(&ns->by_number, n->number);
	ns->v[n->index] = NULL;
	ns->n--;
	objects_free(n->objects);
	free(n);
	ns->conf.handler.on_forgotten(ns->conf.handler.arg);
}

static void age_one(struct nodes *ns, struct node *n)
{
	nsec_t age = now(ns) - n->since;

	if (n->sub == MSG_NODE_SILENT && age >= NODE_LOST_NS)
		set_sub(ns, n, MSG_NODE_LOST);
	else if (n->sub == MSG_NODE_LOST && age >= NODE_FORGET_NS)
		node_forget(ns, n);
}

static void on_age(void *arg)
{
	struct nodes *ns = arg;

	for (size_t i = 0; i < ns->cap; i++)
		if (ns->v[i])
			age_one(ns, ns->v[i]);
	if (ns->n > ns->up)
		loop_timer_arm(ns->age, AGE_PERIOD_NS);
}

static void node_down(struct nodes *ns, struct node *n, const char *reason)
{
	n->link = NULL;
	ns->up--;
	objects_restart(n->objects);
	if (!loop_timer_is_armed(ns->age))
		loop_timer_arm(ns->age, AGE_PERIOD_NS);
	ns->conf.handler.on_down(ns->conf.handler.arg, n, reason);
	set_sub(ns, n, MSG_NODE_SILENT);
}

/* --- who is let in */

static int check_hello(const struct nodes *ns, const struct link *l, const struct msg_hello *h,
		       struct err *why)
{
	const struct identity *id = link_identity(l);

	if (ns->is_closed)
		return err_set(why, ERR_AGAIN, "this sm is ending");
	if (!id || id->role != ROLE_LM)
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
	if (!h->node)
		return err_set(why, ERR_AGAIN, "no node number: mainsm gives one, ask there first");
	return 0;
}

static struct node *find_host(const struct nodes *ns, const char *host)
{
	for (size_t i = 0; i < ns->cap; i++)
		if (ns->v[i] && str_eq(ns->v[i]->host, host))
			return ns->v[i];
	return NULL;
}

/*
 * A number belongs to one host and a host has one number. A host that comes
 * with another number while it is not connected was given a new one.
 */
static int check_number(struct nodes *ns, const struct msg_hello *h, struct err *why)
{
	struct node *same = nodes_find(ns, h->node), *other = find_host(ns, h->host);

	if (same && !str_eq(same->host, h->host))
		return err_set(
			why, ERR_DENIED,
			"node number %u is that of host %s, not of %s: two hosts of one number",
			h->node, same->host, h->host);
	if (other && other != same && other->link)
		return err_set(why, ERR_DENIED, "host %s is connected already, as node %u", h->host,
			       other->number);
	if (same && same->link && h->epoch < same->epoch)
		return err_set(why, ERR_DENIED, "a younger lm of host %s is connected already",
			       h->host);
	if (other && other != same)
		node_forget(ns, other);
	return 0;
}

static size_t free_index(const struct nodes *ns)
{
	size_t i = 0;

	while (i < ns->cap && ns->v[i])
		i++;
	return i;
}

static struct node *node_new(struct nodes *ns, const struct msg_hello *h)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->number = h->node;
	n->sub = MSG_NODE_LOST;
	n->since = now(ns);
	n->has_news = true;
	str_copy(n->host, sizeof(n->host), h->host);
	snprintf(n->token, sizeof(n->token), "n_%u", h->node);
	n->objects = objects_new(h->node, ns->site, h->host, &ns->total);
	if (n->objects)
		return n;
	free(n);
	return NULL;
}

static int node_add(struct nodes *ns, const struct msg_hello *h, struct node **out, struct err *why)
{
	size_t i = ns->n < ns->cap ? free_index(ns) : ns->cap;
	struct node *n;

	if (ns->is_draining)
		return err_set(why, ERR_AGAIN, "the site's admin lets no more hosts of this user in");
	if (ns->total.quota &&
	    quota_check(ns->total.quota, QUOTA_HOSTS, (int64_t)ns->n + 1, ns->total.use, why))
		return -ERR_LIMIT;
	if (i >= NODES_MAX)
		return err_set(why, ERR_LIMIT, "this sm serves %d hosts already", NODES_MAX);
	if (array_grow(&ns->v, &ns->cap, i + 1, sizeof(*ns->v), NODES_MAX))
		return err_nomem(why);
	n = node_new(ns, h);
	if (!n || map_put(&ns->by_number, n->number, n, NULL)) {
		if (n)
			objects_free(n->objects);
		free(n);
		return err_nomem(why);
	}
	n->index = (uint32_t)i;
	ns->v[i] = n;
	ns->n++;
	if (!loop_timer_is_armed(ns->age))
		loop_timer_arm(ns->age, AGE_PERIOD_NS);
	*out = n;
	return 0;
}

/* The host's earlier connection is dead, although nobody has noticed yet. */
static void supersede(struct nodes *ns, struct node *n)
{
	if (!n->link)
		return;
	link_close(n->link, "a newer connection of this host took its place");
	node_down(ns, n, "it connected anew");
}

static int admit(struct nodes *ns, struct link *l, const struct msg_hello *h, struct err *why)
{
	struct node *n;
	int rc = check_hello(ns, l, h, why);

	if (!rc)
		rc = check_number(ns, h, why);
	if (rc)
		return rc;
	n = nodes_find(ns, h->node);
	if (!n)
		rc = node_add(ns, h, &n, why);
	if (rc)
		return rc;
	supersede(ns, n);
	n->epoch = h->epoch;
	link_set_user(l, n);
	return 0;
}

static int on_hello(void *arg, struct link *l, const struct msg_hello *h, struct msg_hello_ack *ack,
		    struct err *why)
{
	struct nodes *ns = arg;
	int rc = admit(ns, l, h, why);

	if (rc) {
		ns->stats.refused++;
		return rc;
	}
	ack->name = ns->name;
	ack->node = h->node;
	ack->site_number = ns->site_number;
	ack->site = ns->site;
	return 0;
}

/* Follows on_hello at once, in the same call. */
static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct nodes *ns = arg;
	struct node *n = link_user(l);

	map_del(&ns->greeting, (uint64_t)(uintptr_t)l);
	n->link = l;
	ns->up++;
	ns->stats.accepted++;
	set_sub(ns, n, MSG_NODE_UP);
	ns->conf.handler.on_up(ns->conf.handler.arg, n);
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct nodes *ns = arg;

	ns->conf.handler.on_msg(ns->conf.handler.arg, link_user(l), m);
}

/* The one line about a peer that did not behave. */
static void tell_fault(struct nodes *ns, const struct link *l)
{
	const char *fault = link_fault(l);
	struct link_stats s;

	if (!fault)
		return;
	link_stats(l, &s);
	ns->conf.handler.on_refused(ns->conf.handler.arg, s.peer, fault);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	tell_fault(arg, l);
	node_down(arg, link_user(l), why->text);
}

static void on_gone(void *arg, struct link *l)
{
	struct nodes *ns = arg;

	tell_fault(ns, l);
	map_del(&ns->greeting, (uint64_t)(uintptr_t)l);
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

/* --- sending */

void node_cut(struct nodes *ns, struct node *n, enum msg_error_code code, const char *why)
{
	if (!n->link)
		return;
	if (code == MSG_ERR_SLOW)
		ns->stats.cut_slow++;
	else
		ns->stats.cut_wrong++;
	link_fail(n->link, code, why);
}

int node_send(struct nodes *ns, struct node *n, const struct msg *m)
{
	size_t before = n->link ? link_queued(n->link) : 0;
	int rc = n->link ? link_send(n->link, m) : -ERR_CLOSED;

	if (!rc)
		ns->queued += link_queued(n->link) - before;
	if (rc == -ERR_AGAIN)
		node_cut(ns, n, MSG_ERR_SLOW, "too much waits to be read");
	return rc;
}

void nodes_send_all(struct nodes *ns, const struct msg *m)
{
	for (size_t i = 0; i < ns->cap; i++)
		if (ns->v[i])
			node_send(ns, ns->v[i], m);
}

/* --- life */

static int listen_for_lms(struct nodes *ns, struct err *e)
{
	const struct net_listen_conf conf = {
		.addr = ns->conf.listen,
		.port = ns->conf.port,
		.roles = ROLE_BIT(ROLE_LM),
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

int nodes_open(const struct nodes_conf *conf, struct nodes **out, struct err *e)
{
	struct nodes *ns = calloc(1, sizeof(*ns));
	int rc;

	if (!ns)
		return err_nomem(e);
	ns->conf = *conf;
	map_init(&ns->by_number);
	map_init(&ns->greeting);
	ns->site = str_dup(conf->site);
	ns->name = str_dup(conf->name);
	ns->age = loop_timer_new(conf->loop, on_age, ns);
	rc = ns->site && ns->name && ns->age ? listen_for_lms(ns, e) : err_nomem(e);
	if (rc) {
		nodes_close(ns);
		return rc;
	}
	set_link_conf(ns);
	*out = ns;
	return 0;
}

void nodes_set_quota(struct nodes *ns, const struct quota *q, struct quota_use *use)
{
	ns->total.quota = q;
	ns->total.use = use;
}

void nodes_refuse_new(struct nodes *ns, bool refuse)
{
	ns->is_draining = refuse;
}

void nodes_refuse_all(struct nodes *ns)
{
	ns->is_closed = true;
}

static void hang_up(struct nodes *ns)
{
	struct map_iter i = { 0 };

	while (map_next(&ns->greeting, &i))
		link_close(i.value, "ending");
	for (size_t k = 0; k < ns->cap; k++) {
		if (!ns->v[k])
			continue;
		link_close(ns->v[k]->link, "ending");
		objects_free(ns->v[k]->objects);
		free(ns->v[k]);
	}
}

void nodes_close(struct nodes *ns)
{
	if (!ns)
		return;
	net_listener_close(ns->listener);
	hang_up(ns);
	loop_timer_free(ns->age);
	map_done(&ns->greeting);
	map_done(&ns->by_number);
	free(ns->v);
	free(ns->site);
	free(ns->name);
	free(ns);
}
