/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/hosts/nodes.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "sm/hosts/nodes_internal.h"
#include "sm/hosts/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGE_PERIOD_NS (5 * NSEC_PER_SEC)

/* --- asking */

struct node *nodes_at(const struct nodes *ns, uint32_t place)
{
	return place < ns->cap ? ns->v[place] : NULL;
}

struct node *nodes_find(const struct nodes *ns, uint32_t number)
{
	return map_find(&ns->by_number, number);
}

uint32_t nodes_bound(const struct nodes *ns)
{
	return (uint32_t)ns->cap;
}

struct branches *nodes_branches(const struct nodes *ns)
{
	return ns->branches;
}

uint64_t nodes_births(const struct nodes *ns)
{
	return ns->births;
}

size_t nodes_count(const struct nodes *ns)
{
	return ns->n;
}

size_t nodes_up(const struct nodes *ns)
{
	return ns->up;
}

size_t nodes_linked(const struct nodes *ns)
{
	return ns->linked;
}

const struct objects_total *nodes_total(const struct nodes *ns)
{
	return &ns->total;
}

uint16_t nodes_port(const struct nodes *ns)
{
	return net_listener_port(ns->listener);
}

uint32_t nodes_level(const struct nodes *ns)
{
	return ns->level;
}

void nodes_set_above(struct nodes *ns, uint32_t site_number, uint32_t level, const char *ways)
{
	ns->site_number = site_number;
	ns->level = level;
	free(ns->ways);
	ns->ways = str_dup(ways); /* without memory the branches ask mainsm for a parent */
}

static bool is_there(uint32_t sub)
{
	return sub == MSG_NODE_UP || sub == MSG_NODE_HUNG;
}

bool node_is_up(const struct node *n)
{
	return n->branch->link && is_there(n->sub);
}

bool nodes_owns(void *nodes, const struct branch *b, const char *token, size_t len)
{
	const struct nodes *ns = nodes;
	char class = token_class(token, len);
	const struct node *n;
	uint32_t number;

	if (!token_node(token, len, &number)) {
		/*
		 * True for names of objects that belong to no single host: counters, csrs, events,
		 * the site.
		 */
		if (class == 's')
			return b->is_sm;
		return class == 'a' || class == 'c' || class == 'e' || class == 'u';
	}
	n = nodes_find(ns, number);
	if (!n)
		return false;
	/* also accepts messages in transit from its previous branch */
	return n->branch == b ||
	       (n->was_at == b->id && loop_now(ns->conf.loop) - n->moved_at < NODE_MOVED_NS);
}

void nodes_stats(const struct nodes *ns, struct nodes_stats *out)
{
	struct branches_sum sum;

	branches_sum(ns->branches, &sum);
	*out = ns->stats;
	out->sms = sum.sms;
	out->cut_slow = sum.cut_slow;
	out->cut_wrong = sum.cut_wrong;
	out->queued = sum.queued;
	out->dropped = sum.dropped;
	out->rtt_max = sum.rtt_max;
}

/* --- states */

static nsec_t now(const struct nodes *ns)
{
	return loop_now(ns->conf.loop);
}

void node_set_sub(struct nodes *ns, struct node *n, uint32_t sub)
{
	if (n->sub == sub)
		return;
	if (is_there(n->sub))
		ns->up--;
	if (is_there(sub))
		ns->up++;
	n->sub = sub;
	n->since = now(ns);
	n->has_news = true;
	if (!is_there(sub) && !loop_timer_is_armed(ns->age))
		loop_timer_arm(ns->age, AGE_PERIOD_NS);
	ns->conf.handler.on_state(ns->conf.handler.arg, n);
}

static void leave_branch(struct nodes *ns, struct node *n)
{
	struct branch *b = n->branch;

	list_del(&n->in_branch);
	b->nnode--;
	n->branch = NULL;
	branch_gone_if_empty(ns, b);
}

static void join_branch(struct node *n, struct branch *b)
{
	n->branch = b;
	list_push_back(&b->nodes, &n->in_branch);
	b->nnode++;
	if (b->promised)
		b->promised--;
}

void node_forget(struct nodes *ns, struct node *n)
{
	ns->conf.handler.on_forget(ns->conf.handler.arg, n);
	map_del(&ns->by_number, n->number);
	ns->v[n->place] = NULL;
	ns->n--;
	if (is_there(n->sub))
		ns->up--;
	leave_branch(ns, n);
	objects_free(n->objects);
	free(n);
	ns->conf.handler.on_forgotten(ns->conf.handler.arg);
}

static void age_one(struct nodes *ns, struct node *n)
{
	nsec_t age = now(ns) - n->since;

	if (n->sub == MSG_NODE_SILENT && age >= NODE_LOST_NS)
		node_set_sub(ns, n, MSG_NODE_LOST);
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

/* --- branches */

void branch_up(struct nodes *ns, struct branch *b, struct link *l)
{
	b->link = l;
	ns->linked++;
	ns->stats.accepted++;
	list_each_safe (i, &b->nodes)
		if (!b->is_sm) /* an sm reports it for each of its hosts */
			node_set_sub(ns, list_entry(i, struct node, in_branch), MSG_NODE_UP);
	ns->conf.handler.on_up(ns->conf.handler.arg, b);
}

void branch_down(struct nodes *ns, struct branch *b, const char *reason)
{
	b->link = NULL;
	b->promised = b->late = 0;
	ns->linked--;
	list_each (i, &b->nodes)
		objects_restart(list_entry(i, struct node, in_branch)->objects);
	ns->conf.handler.on_down(ns->conf.handler.arg, b, reason);
	list_each_safe (i, &b->nodes) {
		struct node *n = list_entry(i, struct node, in_branch);

		if (is_there(n->sub))
			node_set_sub(ns, n, MSG_NODE_SILENT);
	}
	branch_gone_if_empty(ns, b);
}

static struct node *lm_node(const struct branch *b)
{
	return b->is_sm || !b->link || list_is_empty(&b->nodes)
		       ? NULL
		       : list_entry(list_first(&b->nodes), struct node, in_branch);
}

void branch_late(struct nodes *ns, struct branch *b)
{
	struct node *n = lm_node(b);

	if (!n)
		return;
	if (!b->late++)
		b->late_since = now(ns);
	if (b->late >= NODE_HUNG_LATE && now(ns) - b->late_since >= NODE_HUNG_NS)
		node_set_sub(ns, n, MSG_NODE_HUNG);
}

void branch_answered(struct nodes *ns, struct branch *b)
{
	struct node *n = lm_node(b);

	b->late = 0;
	if (n && n->sub == MSG_NODE_HUNG)
		node_set_sub(ns, n, MSG_NODE_UP);
}

void branch_gone_if_empty(struct nodes *ns, struct branch *b)
{
	if (b->nnode || (b->is_sm && b->link))
		return;
	if (b->link) {
		link_close(b->link, "this host is forgotten");
		b->link = NULL;
		ns->linked--;
	}
	ns->conf.handler.on_gone(ns->conf.handler.arg, b);
	branches_remove(ns->branches, b);
}

void node_move(struct nodes *ns, struct node *n, struct branch *b)
{
	n->was_at = n->branch->id;
	n->moved_at = now(ns);
	objects_restart(n->objects);
	leave_branch(ns, n);
	join_branch(n, b);
	ns->conf.handler.on_moved(ns->conf.handler.arg, n);
}

/* --- new ones */

static struct node *find_host(const struct nodes *ns, const char *host)
{
	for (size_t i = 0; i < ns->cap; i++)
		if (ns->v[i] && str_eq(ns->v[i]->host, host))
			return ns->v[i];
	return NULL;
}

int nodes_check(struct nodes *ns, const struct claim *c, struct err *why)
{
	struct node *same = nodes_find(ns, c->number), *other;

	if (same && str_eq(same->host, c->host))
		return 0; /* and the name is its own: it was checked at registration */
	if (same)
		return err_set(
			why, ERR_DENIED,
			"node number %u is that of host %s, not of %s: two hosts of one number",
			c->number, same->host, c->host);
	other = find_host(ns, c->host);
	if (other && node_is_up(other))
		return err_set(why, ERR_DENIED, "host %s is connected already, as node %u", c->host,
			       other->number);
	if (other)
		node_forget(ns, other);
	return 0;
}

static size_t free_place(const struct nodes *ns)
{
	size_t i = 0;

	while (i < ns->cap && ns->v[i])
		i++;
	return i;
}

static struct node *node_new(struct nodes *ns, const struct claim *c)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->number = c->number;
	n->attach = c->attach;
	n->birth = ++ns->births;
	n->sub = MSG_NODE_LOST;
	n->since = now(ns);
	n->has_news = true;
	str_copy(n->host, sizeof(n->host), c->host);
	snprintf(n->token, sizeof(n->token), "n_%u", c->number);
	n->objects = objects_new(c->number, ns->site, c->host, &ns->total);
	if (n->objects)
		return n;
	free(n);
	return NULL;
}

static int check_room(struct nodes *ns, size_t place, struct err *why)
{
	if (ns->is_draining)
		return err_set(why, ERR_AGAIN,
			       "the site's admin lets no more hosts of this user in");
	if (ns->total.quota &&
	    quota_check(ns->total.quota, QUOTA_HOSTS, (int64_t)ns->n + 1, ns->total.use, why))
		return -ERR_LIMIT;
	if (place >= NODES_MAX)
		return err_set(why, ERR_LIMIT, "this sm serves %d hosts already", NODES_MAX);
	return 0;
}

int nodes_add(struct nodes *ns, const struct claim *c, struct branch *b, struct node **out,
	      struct err *why)
{
	size_t i = ns->n < ns->cap ? free_place(ns) : ns->cap;
	struct node *n;
	int rc = check_room(ns, i, why);

	if (rc)
		return rc;
	if (array_grow(&ns->v, &ns->cap, i + 1, sizeof(*ns->v), NODES_MAX))
		return err_nomem(why);
	n = node_new(ns, c);
	if (!n || map_put(&ns->by_number, n->number, n, NULL)) {
		if (n)
			objects_free(n->objects);
		free(n);
		return err_nomem(why);
	}
	n->place = (uint32_t)i;
	ns->v[i] = n;
	ns->n++;
	join_branch(n, b);
	if (!loop_timer_is_armed(ns->age))
		loop_timer_arm(ns->age, AGE_PERIOD_NS);
	*out = n;
	return 0;
}

/* --- life */

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
	ns->branches = branches_new(BRANCHES_MAX);
	ns->age = loop_timer_new(conf->loop, on_age, ns);
	rc = ns->site && ns->name && ns->branches && ns->age ? nodes_listen(ns, e) : err_nomem(e);
	if (rc) {
		nodes_close(ns);
		return rc;
	}
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
	for (uint32_t k = 0; ns->branches && k < branches_bound(ns->branches); k++)
		if (branches_at(ns->branches, k))
			link_close(branches_at(ns->branches, k)->link, "ending");
	for (size_t k = 0; k < ns->cap; k++) {
		if (!ns->v[k])
			continue;
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
	branches_free(ns->branches);
	loop_timer_free(ns->age);
	map_done(&ns->greeting);
	map_done(&ns->by_number);
	free(ns->v);
	free(ns->ways);
	free(ns->site);
	free(ns->name);
	free(ns);
}
