/* SPDX-License-Identifier: Apache-2.0 */
/* Attaching and detaching objects; finding an object by name. */
#include "common/base/str.h"
#include "mainsm/service/service.h"

struct attaching {
	struct service_call *c;
	enum object_kind kind;
	int rc;
};

static void attach_one(struct attaching *a, const struct object *o)
{
	int got = scope_attach(a->c->session->scope, o);

	if (!a->rc && got < 0)
		a->rc = got;
}

/* Attaches all objects of the kind below o (or o itself); limit: only through attached ones. */
static void attach_below(struct attaching *a, const struct object *o, bool limit)
{
	if (o->kind == a->kind) {
		attach_one(a, o);
		return;
	}
	if (limit && !scope_has(a->c->session->scope, o))
		return;
	list_each (i, &o->children)
		attach_below(a, list_entry(i, struct object, sibling), limit);
}

static bool any_site_attached(const struct service_call *c)
{
	list_each (i, directory_sites(c->services->conf.directory))
		if (scope_has(c->session->scope, list_entry(i, struct object, sibling)))
			return true;
	return false;
}

/*
 * Attaches for []: all objects of the kind in attached ones; all sites, and all nodes while no
 * site is attached.
 */
static void attach_all(struct attaching *a)
{
	bool limit = a->kind == OBJECT_PROC || (a->kind == OBJECT_NODE && any_site_attached(a->c));

	list_each (i, directory_sites(a->c->services->conf.directory))
		attach_below(a, list_entry(i, struct object, sibling), limit);
}

/* A token below the kind attaches its container; a token above the kind attaches its contents. */
static int attach_token(struct attaching *a, const struct omis_value *v)
{
	const char *token = omis_value_text(v, NULL);
	struct object *o = token ? directory_find(a->c->services->conf.directory, token) : NULL;

	if (!o)
		return service_unknown(a->c, token ? token : "");
	if (o->kind > a->kind)
		o = object_container(o, a->kind);
	attach_below(a, o, false);
	return 0;
}

static int attach(struct service_call *c, enum object_kind kind)
{
	struct attaching a = { c, kind, 0 };
	struct service_list list = service_list(c, 0);
	uint64_t before = scope_version(c->session->scope);

	if (list.n == 0)
		attach_all(&a);
	for (size_t i = 0; i < list.n && !a.rc; i++)
		a.rc = attach_token(&a, &list.v[i]);
	if (scope_version(c->session->scope) == before)
		return a.rc;
	service_follow(c);
	return a.rc ? a.rc : service_await_armed(c);
}

static int site_attach(struct service_call *c)
{
	return attach(c, OBJECT_SITE);
}

static int node_attach(struct service_call *c)
{
	return attach(c, OBJECT_NODE);
}

static int proc_attach(struct service_call *c)
{
	return attach(c, OBJECT_PROC);
}

/* Detaches objects, which the plan has expanded to attached ones of the class. */
static int detach(struct service_call *c)
{
	struct service_list list = service_list(c, 0);
	int got = 0;

	for (size_t i = 0; i < list.n && got >= 0; i++) {
		const struct object *o = directory_find(c->services->conf.directory, list.v[i].s.p);

		if (o)
			got = scope_detach(c->session->scope, o);
	}
	if (list.n)
		service_follow(c);
	return got < 0 ? got : 0;
}

int service_answer_attached(struct service_call *c, const struct object *o)
{
	struct attaching a = { c, o->kind, 0 };

	attach_one(&a, o);
	service_follow(c);
	return a.rc ? a.rc : reply_add(c->into, c->action, o->token, STATUS_OK, o->token);
}

static int node_attach2(struct service_call *c)
{
	const char *name = service_text(c, 0);

	list_each (i, directory_sites(c->services->conf.directory)) {
		const struct object *site = list_entry(i, struct object, sibling);

		list_each (k, &site->children) {
			const struct object *node = list_entry(k, struct object, sibling);

			if (str_eq(node->host, name) || str_eq(node->token, name))
				return service_answer_attached(c, node);
		}
	}
	return reply_add(c->into, c->action, NULL, STATUS_UNKNOWN_OBJECT,
			 "no host of that name is known");
}

const struct service mainsm_attach_services[] = {
	{ "site_attach", site_attach },
	{ "site_detach", detach },
	{ "node_attach", node_attach },
	{ "node_attach2", node_attach2 },
	{ "node_detach", detach },
	{ "proc_attach", proc_attach },
	{ "proc_detach", detach },
	{ "thread_detach", detach },
	{ 0 },
};
