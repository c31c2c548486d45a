/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/plan/world.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "common/omis/text/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layout {
	struct world_object *v;
	size_t n, cap;
	struct arena *arena;
	const char *text, *at;
	int64_t ranks;
	unsigned made; /* number of sites and nodes that have tokens */
	struct err *e;
};

static int wrong(struct layout *l, const char *what)
{
	return err_set(l->e, ERR_PARSE, "layout: expected %s at '%.20s'", what, l->at);
}

/* Puts an object named by the text up to one of the marks; *out is its index. */
static int put(struct layout *l, enum pmsl_kind kind, uint32_t parent, uint32_t *out)
{
	size_t n = strcspn(l->at, ":=,;/ ");
	bool is_process = kind == PMSL_T_PROCESS;
	char *name, *token, made[TOKEN_BYTES];
	int rc;

	if (!n || !str_is_name(l->at, n) ||
	    (is_process && (!token_is_valid(l->at, n) || token_class(l->at, n) != 'p')))
		return wrong(l, is_process ? "the token of a process (p_1)" : "a name");
	rc = array_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v), WORLD_OBJECTS_MAX);
	name = arena_copy(l->arena, l->at, n);
	snprintf(made, sizeof(made), "%c_%u", kind == PMSL_T_NODE ? 'n' : 's', ++l->made);
	token = is_process ? name : arena_copy(l->arena, made, strlen(made));
	if (rc || !token || !name)
		return rc == -ERR_LIMIT ? err_set(l->e, ERR_LIMIT, "layout: too many objects")
					: err_nomem(l->e);
	l->v[l->n] = (struct world_object){
		kind, token, is_process ? NULL : name, is_process ? l->ranks++ : -1, parent,
		0,    false
	};
	if (out)
		*out = (uint32_t)l->n;
	l->n++;
	l->at += n;
	return 0;
}

static bool take(struct layout *l, char c)
{
	if (*l->at != c)
		return false;
	l->at++;
	return true;
}

/* Parses host=p_1,p_2. */
static int parse_node(struct layout *l, uint32_t site)
{
	uint32_t node;
	int rc = put(l, PMSL_T_NODE, site, &node);

	if (rc || !take(l, '='))
		return rc ? rc : wrong(l, "'='");
	do {
		rc = put(l, PMSL_T_PROCESS, node, NULL);
	} while (!rc && take(l, ','));
	return rc;
}

static int parse_site(struct layout *l)
{
	uint32_t site;
	int rc = put(l, PMSL_T_SITE, WORLD_NONE, &site);

	if (rc || !take(l, ':'))
		return rc ? rc : wrong(l, "':'");
	do {
		rc = parse_node(l, site);
	} while (!rc && take(l, ';'));
	return rc;
}

static int parse(struct layout *l)
{
	int rc;

	do {
		rc = parse_site(l);
	} while (!rc && take(l, '/'));
	return rc || !*l->at ? rc : wrong(l, "',', ';' or '/'");
}

int world_from_layout(const char *text, struct arena *a, struct world *out, struct err *e)
{
	struct layout l = { .arena = a, .text = text, .at = text, .e = e };
	struct world_object *v;
	int rc = parse(&l);

	v = rc ? NULL : arena_array(a, l.n, sizeof(*v));
	if (v) {
		memcpy(v, l.v, l.n * sizeof(*v));
		*out = (struct world){ v, l.n };
	}
	free(l.v);
	return rc || v ? rc : err_nomem(e);
}

uint32_t world_find(const struct world *w, const char *token)
{
	for (size_t i = 0; i < w->n; i++)
		if (str_eq(w->v[i].token, token) || (w->v[i].name && str_eq(w->v[i].name, token)))
			return (uint32_t)i;
	return WORLD_NONE;
}

static uint32_t up_to(const struct world *w, uint32_t i, enum pmsl_kind kind)
{
	while (i != WORLD_NONE && w->v[i].kind < kind)
		i = w->v[i].parent;
	return i == WORLD_NONE || w->v[i].kind != kind ? WORLD_NONE : i;
}

uint32_t world_node(const struct world *w, uint32_t i)
{
	return up_to(w, i, PMSL_T_NODE);
}

uint32_t world_site(const struct world *w, uint32_t i)
{
	return up_to(w, i, PMSL_T_SITE);
}

bool world_is_in(const struct world *w, uint32_t i, uint32_t in)
{
	return up_to(w, i, w->v[in].kind) == in;
}
