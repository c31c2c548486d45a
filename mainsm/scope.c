/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/scope.h"

#include "common/base/map.h"

#include <stdlib.h>

struct scope {
	struct smap attached; /* token -> the scope itself, as a mark */
	uint64_t version;
};

struct scope *scope_new(void)
{
	struct scope *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	smap_init(&s->attached);
	return s;
}

void scope_free(struct scope *s)
{
	if (!s)
		return;
	smap_done(&s->attached);
	free(s);
}

static bool is_marked(const struct scope *s, const struct object *o)
{
	return smap_find(&s->attached, o->token) != NULL;
}

int scope_attach(struct scope *s, const struct object *o)
{
	if (o->kind == OBJECT_THREAD)
		return -ERR_INVALID;
	if (is_marked(s, o))
		return 0;
	for (const struct object *at = o; at; at = at->parent)
		if (smap_put(&s->attached, at->token, s, NULL))
			return -ERR_NOMEM;
	s->version++;
	return 1;
}

static void unmark(struct scope *s, const struct object *o)
{
	smap_del(&s->attached, o->token);
	if (o->kind == OBJECT_PROC)
		return;
	list_each(i, &o->children)
		unmark(s, list_entry(i, struct object, sibling));
}

int scope_detach(struct scope *s, const struct object *o)
{
	if (o->kind == OBJECT_THREAD || !is_marked(s, o))
		return 0;
	unmark(s, o);
	s->version++;
	return 1;
}

void scope_forget(struct scope *s, const struct object *o)
{
	if (smap_del(&s->attached, o->token))
		s->version++;
}

bool scope_has(const struct scope *s, const struct object *o)
{
	return is_marked(s, o->kind == OBJECT_THREAD ? o->parent : o);
}

size_t scope_count(const struct scope *s)
{
	return s->attached.n;
}

uint64_t scope_version(const struct scope *s)
{
	return s->version;
}
