/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/tool/scope.h"

#include "common/container/map.h"

#include <stdlib.h>

struct scope {
	struct smap attached; /* token -> the scope itself, as a set */
	struct smap hidden; /* threads of attached processes that were detached alone; as above */
	uint64_t version;
};

struct scope *scope_new(void)
{
	struct scope *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	smap_init(&s->attached);
	smap_init(&s->hidden);
	return s;
}

void scope_free(struct scope *s)
{
	if (!s)
		return;
	smap_done(&s->attached);
	smap_done(&s->hidden);
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

/* A process that is attached again has all its threads. */
static void unmark(struct scope *s, const struct object *o)
{
	smap_del(o->kind == OBJECT_THREAD ? &s->hidden : &s->attached, o->token);
	list_each (i, &o->children)
		unmark(s, list_entry(i, struct object, sibling));
}

static int hide(struct scope *s, const struct object *thread)
{
	if (!scope_has(s, thread))
		return 0;
	if (smap_put(&s->hidden, thread->token, s, NULL))
		return -ERR_NOMEM;
	s->version++;
	return 1;
}

int scope_detach(struct scope *s, const struct object *o)
{
	if (o->kind == OBJECT_THREAD)
		return hide(s, o);
	if (!is_marked(s, o))
		return 0;
	unmark(s, o);
	s->version++;
	return 1;
}

void scope_forget(struct scope *s, const struct object *o)
{
	if (smap_del(o->kind == OBJECT_THREAD ? &s->hidden : &s->attached, o->token))
		s->version++;
}

bool scope_has(const struct scope *s, const struct object *o)
{
	if (o->kind != OBJECT_THREAD)
		return is_marked(s, o);
	return is_marked(s, o->parent) && !smap_find(&s->hidden, o->token);
}

bool scope_has_all(const struct scope *s, const struct object *proc)
{
	if (!scope_hides_any(s))
		return true;
	list_each (i, &proc->children)
		if (smap_find(&s->hidden, list_entry(i, struct object, sibling)->token))
			return false;
	return true;
}

bool scope_hides_any(const struct scope *s)
{
	return s->hidden.n > 0;
}

size_t scope_count(const struct scope *s)
{
	return s->attached.n;
}

uint64_t scope_version(const struct scope *s)
{
	return s->version;
}
