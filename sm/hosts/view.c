/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/hosts/view.h"

#include "common/omis/text/token.h"

#include <string.h>

static struct node *find_node(const struct site_view *v, const char *token)
{
	uint32_t number;

	return token_node(token, strlen(token), &number) ? nodes_find(v->nodes, number) : NULL;
}

/*
 * A container represents its contents: its host expands it. The empty list has been resolved
 * before.
 */
static int expand(void *arg, const char *token, char cls, struct route_tokens *out)
{
	if (!token)
		return 0;
	return find_node(arg, token) ? route_tokens_add(out, token) : -ERR_NOTFOUND;
}

static int lift(void *arg, const char *token, struct route_tokens *out)
{
	const struct node *n = find_node(arg, token);
	const char *up = NULL;

	if (!n)
		return -ERR_NOTFOUND;
	if (token[0] == 't')
		up = objects_parent(n->objects, token);
	else if (token[0] == 'p')
		up = n->token;
	return up ? route_tokens_add(out, up) : -ERR_NOTFOUND;
}

static int locate_node(const struct site_view *v, const struct node *n, bool arming,
		       struct route_places *out, const char **missing)
{
	if (n->branch->index >= v->nbranch)
		*missing = "the host came after the request had begun";
	else if (node_is_up(n) || arming)
		return route_places_add(out, n->branch->index);
	else
		*missing =
			n->sub == MSG_NODE_LOST ? "the host is lost" : "the host does not answer";
	return 0;
}

/* True if another sm served the host when the counter was made: it may have a part. */
static bool may_have(const struct node *n, uint64_t births)
{
	return n && n->has_past && n->birth > births;
}

bool site_view_guesses(const struct site_view *v, const char *token)
{
	uint64_t births = placement_births(v->placement, token);
	size_t n;

	if (!placement_find(v->placement, token, &n))
		return true;
	for (uint32_t i = 0; nodes_births(v->nodes) > births && i < nodes_bound(v->nodes); i++)
		if (may_have(nodes_at(v->nodes, i), births))
			return true;
	return false;
}

static int locate_newcomers(const struct site_view *v, uint64_t births, struct route_places *out)
{
	const char *missing = NULL;
	int rc = 0;

	for (uint32_t i = 0; !rc && nodes_births(v->nodes) > births && i < nodes_bound(v->nodes);
	     i++)
		if (may_have(nodes_at(v->nodes, i), births))
			rc = locate_node(v, nodes_at(v->nodes, i), true, out, &missing);
	return rc;
}

/*
 * Returns its known hosts, else all: an sm that was started again has learnt none yet. Hosts that
 * do not answer are asked too, so that they are named as missing.
 */
static int locate_cell(const struct site_view *v, const char *token, struct route_places *out)
{
	size_t n;
	const uint32_t *number = placement_find(v->placement, token, &n);
	const char *missing = NULL;
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		const struct node *node = nodes_find(v->nodes, number[i]);

		if (node)
			rc = locate_node(v, node, true, out, &missing);
	}
	if (!rc && number)
		rc = locate_newcomers(v, placement_births(v->placement, token), out);
	for (uint32_t i = 0; !rc && !number && i < v->nbranch; i++)
		if (branches_at(nodes_branches(v->nodes), i))
			rc = route_places_add(out, i);
	return rc;
}

static int locate(void *arg, const char *token, bool arming, struct route_places *out,
		  const char **missing)
{
	const struct site_view *v = arg;
	const struct node *n;

	if (token_class(token, strlen(token)) == 'a')
		return locate_cell(v, token, out);
	n = find_node(v, token);
	return n ? locate_node(v, n, arming, out, missing) : -ERR_NOTFOUND;
}

struct route_view site_view_now(struct site_view *v)
{
	return (struct route_view){ v, v->nbranch, expand, lift, locate, NULL, false };
}

struct route_view site_view_arming(struct site_view *v)
{
	return (struct route_view){ v, v->nbranch, expand, lift, locate, NULL, true };
}
