/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/directory/directory.h"

#include "common/base/str.h"
#include "common/container/map.h"
#include "common/omis/text/token.h"
#include "mainsm/directory/added.h"
#include "mainsm/directory/object.h"

#include <stdlib.h>
#include <string.h>

struct directory {
	struct smap by_token; /* owns the objects */
	struct map nodes; /* by number */
	struct list sites;
	uint64_t sequence;
	size_t count[OBJECT_KINDS];
	void (*listen)(void *arg, const struct object *o, enum directory_change what);
	void *listen_arg;
	struct added added;
};

struct directory *directory_new(void)
{
	struct directory *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	smap_init(&d->by_token);
	map_init(&d->nodes);
	list_init(&d->sites);
	return d;
}

void directory_free(struct directory *d)
{
	struct smap_iter i = { 0 };

	if (!d)
		return;
	while (smap_next(&d->by_token, &i))
		object_free(i.value);
	smap_done(&d->by_token);
	map_done(&d->nodes);
	added_done(&d->added);
	free(d);
}

void directory_set_listener(struct directory *d,
			    void (*fn)(void *arg, const struct object *o,
				       enum directory_change what),
			    void *arg)
{
	d->listen = fn;
	d->listen_arg = arg;
}

static void notify(struct directory *d, const struct object *o, enum directory_change what)
{
	if (d->listen)
		d->listen(d->listen_arg, o, what);
}

struct object *directory_find(const struct directory *d, const char *token)
{
	return smap_find(&d->by_token, token);
}

struct object *directory_node(const struct directory *d, uint32_t number)
{
	return map_find(&d->nodes, number);
}

const struct list *directory_sites(const struct directory *d)
{
	return &d->sites;
}

uint64_t directory_sequence(const struct directory *d)
{
	return d->sequence;
}

size_t directory_count(const struct directory *d, enum object_kind kind)
{
	return d->count[kind];
}

/* Consumes o, also on failure. */
static int link_in(struct directory *d, struct object *o, struct object *parent)
{
	if (d->by_token.n >= DIRECTORY_OBJECTS_MAX) {
		object_free(o);
		return -ERR_LIMIT;
	}
	if (smap_put(&d->by_token, o->token, o, NULL)) {
		object_free(o);
		return -ERR_NOMEM;
	}
	o->born = ++d->sequence;
	o->parent = parent;
	list_push_back(parent ? &parent->children : &d->sites, &o->sibling);
	d->count[o->kind]++;
	return 0;
}

int directory_add_site(struct directory *d, uint32_t number, const char *name, struct object **out)
{
	char token[16];
	struct object *o;
	int rc;

	snprintf(token, sizeof(token), "s_%u", number);
	o = directory_find(d, token);
	if (!o) {
		o = object_new(OBJECT_SITE,
			       &(struct msg_object){ .token = token, .name = name, .rank = -1 });
		if (!o)
			return -ERR_NOMEM;
		o->number = number;
		rc = link_in(d, o, NULL);
		if (rc)
			return rc;
		notify(d, o, DIRECTORY_CAME);
	}
	*out = o;
	return 0;
}

/* Also removes all objects that it contains. */
static void directory_remove(struct directory *d, struct object *o)
{
	struct object *node;

	list_each_safe (i, &o->children)
		directory_remove(d, list_entry(i, struct object, sibling));
	notify(d, o, DIRECTORY_WENT);
	node = object_container(o, OBJECT_NODE);
	if (node && node != o)
		node->objects--;
	if (o->kind == OBJECT_NODE)
		map_del(&d->nodes, o->number);
	d->added.is_old |= o->services.n > 0;
	list_del(&o->sibling);
	d->count[o->kind]--;
	smap_del(&d->by_token, o->token);
	object_free(o);
}

/* Creates a node: known, but not served yet. */
static int make_node(struct directory *d, uint32_t number, const char *host, struct object *site,
		     struct object **out)
{
	char token[16];
	struct object *o;
	int rc;

	snprintf(token, sizeof(token), "n_%u", number);
	o = object_new(
		OBJECT_NODE,
		&(struct msg_object){ .token = token, .name = host, .host = host, .rank = -1 });
	if (!o)
		return -ERR_NOMEM;
	o->number = number;
	rc = link_in(d, o, site);
	if (rc)
		return rc;
	if (map_put(&d->nodes, number, o, NULL)) {
		directory_remove(d, o);
		return -ERR_NOMEM;
	}
	*out = o;
	return 0;
}

/* six: a node is made of a number, a host, a site and a time. */
int directory_add_node(struct directory *d, uint32_t number, const char *host, struct object *site,
		       nsec_t now, struct object **out)
{
	struct object *o = directory_node(d, number);
	int rc;

	if (!o) {
		rc = make_node(d, number, host, site, &o);
		if (rc)
			return rc;
		o->sub = MSG_NODE_LOST;
		o->since = now;
		notify(d, o, DIRECTORY_CAME);
	}
	*out = o;
	return 0;
}

static int kind_of(const struct msg_object *m)
{
	return m->token[0] && m->token[1] == '_' ? object_kind_of(m->token[0]) : -1;
}

/* The parent of a process is the node, and that of a thread is a process of the node. */
static int check_place(struct directory *d, const struct object *node, const struct msg_object *m,
		       struct object **parent, struct err *e)
{
	int kind = kind_of(m);
	struct token_parts t;

	if (kind != OBJECT_PROC && kind != OBJECT_THREAD)
		return err_set(e, ERR_PROTO, "a node may not announce '%s'", m->token);
	/* the token is used in requests and graphs of all tools, so it must be valid */
	if (token_parse(m->token, strlen(m->token), &t))
		return err_set(e, ERR_PROTO, "'%s' is not an object that a host has", m->token);
	if (t.number != node->number)
		return err_set(e, ERR_DENIED, "'%s' is not of %s", m->token, node->token);
	*parent = directory_find(d, m->parent);
	if (!*parent || (int)(*parent)->kind != kind - 1 ||
	    object_container(*parent, OBJECT_NODE) != node)
		return err_set(e, ERR_PROTO, "'%s' has no such parent '%s'", m->token, m->parent);
	return 0;
}

static int add_object(struct directory *d, struct object *node, const struct msg_object *m,
		      struct err *e)
{
	struct object *parent = NULL, *o;
	int rc = check_place(d, node, m, &parent, e);

	if (rc)
		return rc;
	if (node->objects >= DIRECTORY_NODE_OBJECTS_MAX)
		return err_set(e, ERR_LIMIT, "%s has more than %d objects", node->token,
			       DIRECTORY_NODE_OBJECTS_MAX);
	o = object_new((enum object_kind)kind_of(m), m);
	if (!o)
		return err_nomem(e);
	o->number = node->number;
	o->round = node->round;
	rc = link_in(d, o, parent);
	if (rc)
		return err_set(e, (enum err_code)(-rc), "no room for '%s'", m->token);
	node->objects++;
	notify(d, o, DIRECTORY_CAME);
	return 0;
}

static void update_node(struct directory *d, struct object *node, const struct msg_object *m,
			nsec_t now)
{
	if (m->op == MSG_OP_GONE)
		return;
	directory_set_sub(d, node, m->sub, now);
}

static int apply_one(struct directory *d, struct object *node, const struct msg_object *m,
		     nsec_t now, struct err *e)
{
	struct object *o = directory_find(d, m->token);

	if (o == node) {
		update_node(d, node, m, now);
		return 0;
	}
	if (!o)
		return m->op == MSG_OP_GONE ? 0 : add_object(d, node, m, e);
	if (object_container(o, OBJECT_NODE) != node)
		return err_set(e, ERR_DENIED, "'%s' is not of %s", m->token, node->token);
	if (m->op == MSG_OP_GONE) {
		directory_remove(d, o);
		return 0;
	}
	o->round = node->round;
	switch (object_update(o, m)) {
	case 0:
		return 0;
	case 1:
		notify(d, o, DIRECTORY_CHANGED);
		return 0;
	default:
		return err_nomem(e);
	}
}

/* After a snapshot: removes objects that it did not contain. */
static void sweep(struct directory *d, struct object *o, uint32_t round)
{
	list_each_safe (i, &o->children) {
		struct object *child = list_entry(i, struct object, sibling);

		if (child->round != round)
			directory_remove(d, child);
		else
			sweep(d, child, round);
	}
}

int directory_apply(struct directory *d, uint32_t server, const struct msg_directory *m, nsec_t now,
		    struct err *e)
{
	struct object *node = directory_node(d, m->node);
	bool left = false;

	if (!node || !server || node->server != server)
		return err_set(e, ERR_DENIED, "node %u is not served by this peer", m->node);
	if (m->full && !node->snapshot) {
		node->round++;
		node->snapshot = true;
	}
	for (size_t i = 0; i < m->nobject; i++) {
		int rc = apply_one(d, node, &m->object[i], now, e);

		if (rc)
			return rc;
		left |= m->object[i].op == MSG_OP_GONE && str_eq(m->object[i].token, node->token);
	}
	if (left) {
		directory_remove(d, node);
	} else if (m->full && !m->more) {
		node->snapshot = false;
		sweep(d, node, node->round);
		return added_put(&d->added, node, &m->services, e);
	}
	return 0;
}

const struct added_services *directory_added(struct directory *d)
{
	return added_all(&d->added, &d->nodes);
}

unsigned directory_added_version(const struct directory *d)
{
	return d->added.version;
}

void directory_each_offering(struct directory *d, const char *service,
			     void (*fn)(void *arg, const struct object *node), void *arg)
{
	added_each_node(&d->nodes, service, fn, arg);
}

void directory_serve(struct directory *d, struct object *node, uint32_t server, uint64_t attach)
{
	node->server = server;
	node->attach = attach;
	node->snapshot = false; /* an incomplete snapshot of an earlier branch is dropped */
}

void directory_set_sub(struct directory *d, struct object *node, uint32_t sub, nsec_t now)
{
	if (sub > MSG_NODE_HUNG)
		sub = MSG_NODE_LOST;
	if (node->sub == sub)
		return;
	node->sub = sub;
	node->since = now;
	notify(d, node, DIRECTORY_CHANGED);
}

void directory_branch_lost(struct directory *d, uint32_t server, nsec_t now)
{
	struct map_iter i = { 0 };

	while (map_next(&d->nodes, &i)) {
		struct object *node = i.value;

		if (node->server != server)
			continue;
		directory_serve(d, node, 0, 0);
		directory_set_sub(d, node, MSG_NODE_LOST, now);
	}
}

size_t directory_forget(struct directory *d, nsec_t now, nsec_t keep)
{
	struct map_iter i = { 0 };
	size_t n = 0;

	while (map_next(&d->nodes, &i)) {
		struct object *node = i.value;

		if (node->sub != MSG_NODE_LOST || now - node->since <= keep)
			continue;
		directory_remove(d, node);
		n++;
	}
	return n;
}
