/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/hosts/placement.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "common/omis/text/token.h"
#include "sm/hosts/nodes.h"

#include <stdlib.h>

struct cell {
	uint32_t tool;
	uint32_t *node;
	size_t n, cap;
	uint64_t births;
};

struct placement {
	struct smap by_token; /* owns struct cell */
};

struct placement *placement_new(void)
{
	struct placement *c = calloc(1, sizeof(*c));

	if (c)
		smap_init(&c->by_token);
	return c;
}

static void cell_free(struct cell *c)
{
	if (!c)
		return;
	free(c->node);
	free(c);
}

void placement_free(struct placement *c)
{
	struct smap_iter i = { 0 };

	if (!c)
		return;
	while (smap_next(&c->by_token, &i))
		cell_free(i.value);
	smap_done(&c->by_token);
	free(c);
}

size_t placement_count(const struct placement *c)
{
	return c->by_token.n;
}

void placement_del(struct placement *c, const char *token)
{
	cell_free(smap_del(&c->by_token, token));
}

void placement_drop_tool(struct placement *c, uint32_t tool)
{
	struct smap_iter i = { 0 };

	while (smap_next(&c->by_token, &i)) {
		const struct cell *cell = i.value;

		if (cell->tool == tool)
			placement_del(c, i.key);
	}
}

const uint32_t *placement_find(const struct placement *c, const char *token, size_t *n)
{
	const struct cell *cell = smap_find(&c->by_token, token);

	*n = cell ? cell->n : 0;
	return cell ? cell->node : NULL;
}

uint64_t placement_births(const struct placement *c, const char *token)
{
	const struct cell *cell = smap_find(&c->by_token, token);

	return cell ? cell->births : 0;
}

static int add_node(struct cell *c, uint32_t node)
{
	int rc;

	for (size_t i = 0; i < c->n; i++)
		if (c->node[i] == node)
			return 0;
	rc = array_grow(&c->node, &c->cap, c->n + 1, sizeof(*c->node), NODES_MAX);
	if (!rc)
		c->node[c->n++] = node;
	return rc;
}

static int get(struct placement *c, const char *token, uint64_t births, struct cell **out)
{
	struct cell *cell = smap_find(&c->by_token, token);

	if (!cell) {
		if (c->by_token.n >= PLACEMENT_MAX)
			return -ERR_LIMIT;
		cell = calloc(1, sizeof(*cell));
		if (!cell || smap_put(&c->by_token, token, cell, NULL)) {
			free(cell);
			return -ERR_NOMEM;
		}
		cell->births = births;
	}
	*out = cell;
	return 0;
}

int placement_learn(struct placement *c, uint32_t tool, const struct omis_call *call,
		    uint64_t births)
{
	struct cell *cell;
	uint32_t node;
	int rc;

	if (!str_eq(call->name, "omig_pa_create") || call->nparam < 2 ||
	    call->param[0].kind != OMIS_LIST || call->param[1].kind != OMIS_TOKEN)
		return 0;
	rc = get(c, call->param[1].s.p, births, &cell);
	if (!rc)
		cell->tool = tool;
	for (size_t i = 0; !rc && i < call->param[0].list.n; i++) {
		const struct omis_value *v = &call->param[0].list.v[i];

		if (v->kind == OMIS_TOKEN && token_node(v->s.p, v->s.n, &node))
			rc = add_node(cell, node);
	}
	return rc;
}
