/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/tool/view.h"

#include "common/base/str.h"
#include "common/omis/text/token.h"

#include <string.h>

/* Attached objects of that kind directly in the list. */
static int add_attached(const struct tool_view *v, const struct list *in, enum object_kind kind,
			struct route_tokens *out)
{
	int rc = 0;

	list_each (i, in) {
		const struct object *o = list_entry(i, struct object, sibling);

		if (o->kind == kind && scope_has(v->scope, o))
			rc = route_tokens_add(out, o->token);
		if (rc)
			break;
	}
	return rc;
}

static int add_nodes(const struct tool_view *v, struct route_tokens *out)
{
	int rc = 0;

	list_each (i, directory_sites(v->directory)) {
		const struct object *site = list_entry(i, struct object, sibling);

		if (scope_has(v->scope, site))
			rc = add_attached(v, &site->children, OBJECT_NODE, out);
		if (rc)
			break;
	}
	return rc;
}

static int add_keys(const struct smap *m, struct route_tokens *out)
{
	struct smap_iter i = { 0 };
	int rc = 0;

	while (!rc && smap_next(m, &i))
		rc = route_tokens_add(out, i.key);
	return rc;
}

static int add_pas(const struct tool_view *v, struct route_tokens *out)
{
	const struct pa_object *o;
	int rc = 0;

	for (size_t i = 0; !rc && (o = pa_set_at(v->pas, i)); i++)
		rc = route_tokens_add(out, o->token);
	return rc;
}

static int expand_all(const struct tool_view *v, char cls, struct route_tokens *out)
{
	switch (cls) {
	case 's':
		return add_attached(v, directory_sites(v->directory), OBJECT_SITE, out);
	case 'n':
		return add_nodes(v, out);
	case 'c':
		return add_keys(v->csrs, out);
	case 'e':
		return add_keys(v->events, out);
	case 'd':
		return add_keys(v->measures, out);
	case 'a':
		return add_pas(v, out);
	default:
		return 0;
	}
}

static const struct object *find_attached(const struct tool_view *v, const char *token)
{
	const struct object *o = directory_find(v->directory, token);

	return o && scope_has(v->scope, o) ? o : NULL;
}

static int expand(void *arg, const char *token, char cls, struct route_tokens *out)
{
	const struct tool_view *v = arg;
	const struct object *o;

	if (!token)
		return expand_all(v, cls, out);
	o = find_attached(v, token);
	/* an ended process has no threads; a request that names it gets an error */
	if (!o || (o->kind == OBJECT_PROC && o->state == MSG_STATE_ENDED))
		return -ERR_NOTFOUND;
	return add_attached(v, &o->children, (enum object_kind)object_kind_of(cls), out);
}

/* As expand(), but a process whose threads are all attached stays a process. */
static int expand_arming(void *arg, const char *token, char cls, struct route_tokens *out)
{
	const struct tool_view *v = arg;
	const struct object *o = token ? find_attached(v, token) : NULL;

	if (o && o->kind == OBJECT_PROC && cls == 't' && scope_has_all(v->scope, o))
		return route_tokens_add(out, token);
	return expand(arg, token, cls, out);
}

static int lift(void *arg, const char *token, struct route_tokens *out)
{
	const struct tool_view *v = arg;
	const struct object *o = find_attached(v, token);

	if (!o || !o->parent || !scope_has(v->scope, o->parent))
		return -ERR_NOTFOUND;
	return route_tokens_add(out, o->parent->token);
}

/* Finds the node's branch, or the reason why there is none. */
static int locate_node(const struct object *node, bool arming, struct route_places *out,
		       const char **missing)
{
	if (node->sub == MSG_NODE_LOST || !node->server) {
		*missing = "the host is lost";
		return 0;
	}
	if (node->sub == MSG_NODE_SILENT && !arming) {
		*missing = "the host does not answer";
		return 0;
	}
	return route_places_add(out, node->server - 1);
}

static int locate_site(const struct tool_view *v, const char *token, struct route_places *out,
		       const char **missing)
{
	const struct branch *branch = branches_find(v->branches, token);

	if (branch)
		return route_places_add(out, branch->index);
	*missing = "the site's sm is not there";
	return 0;
}

/* Adds the branches of the object's hosts, which report silent hosts. A host without a branch is
 * missing. */
static int locate_pa(const struct tool_view *v, const struct pa_object *o, struct route_places *out,
		     const char **missing)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < o->nproc; i++) {
		const struct object *proc = directory_find(v->directory, o->proc[i]);
		const struct object *node = proc ? object_container(proc, OBJECT_NODE) : NULL;

		if (node && node->server)
			rc = route_places_add(out, node->server - 1);
		else if (node)
			*missing = "a host that it counts on is lost";
	}
	return rc;
}

static int locate_object(const struct tool_view *v, const char *token, bool arming,
			 struct route_places *out, const char **missing)
{
	const struct object *o = find_attached(v, token);

	if (!o)
		return -ERR_NOTFOUND;
	if (o->kind == OBJECT_SITE)
		return locate_site(v, token, out, missing);
	return locate_node(object_container(o, OBJECT_NODE), arming, out, missing);
}

static int locate(void *arg, const char *token, bool arming, struct route_places *out,
		  const char **missing)
{
	const struct tool_view *v = arg;
	const struct pa_object *pa;

	switch (token_class(token, strlen(token))) {
	case 'c':
		return smap_find(v->csrs, token) ? 0 : -ERR_NOTFOUND;
	case 'e':
		return smap_find(v->events, token) ? 0 : -ERR_NOTFOUND;
	case 'd':
		return smap_find(v->measures, token) ? 0 : -ERR_NOTFOUND;
	case 'a':
		pa = pa_set_find(v->pas, token);
		return pa ? locate_pa(v, pa, out, missing) : -ERR_NOTFOUND;
	default:
		return locate_object(v, token, arming, out, missing);
	}
}

static bool has_ended(void *arg, const char *token)
{
	const struct tool_view *v = arg;
	const struct object *o = directory_find(v->directory, token);

	return o && o->kind == OBJECT_PROC && o->state == MSG_STATE_ENDED;
}

struct route_view tool_view_now(struct tool_view *v)
{
	return (struct route_view){
		v, branches_bound(v->branches), expand, lift, locate, has_ended, false
	};
}

struct route_view tool_view_arming(struct tool_view *v)
{
	return (struct route_view){
		v, branches_bound(v->branches), expand_arming, lift, locate, has_ended, true
	};
}

bool tool_view_branch_owns(void *directory, const struct branch *b, const char *token, size_t n)
{
	const struct object *node;
	uint32_t number;

	if (token_node(token, n, &number)) {
		node = directory_node(directory, number);
		return node && node->server == b->index + 1;
	}
	if (token_class(token, n) == 's')
		return strlen(b->name) == n && !memcmp(b->name, token, n);
	return true;
}
