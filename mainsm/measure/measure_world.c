/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a tool, in the form of the compiler. */
#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "mainsm/measure/measure_internal.h"
#include "pmsl/plan/bound.h"

#include <assert.h>
#include <stdlib.h>

#define WORLD_HEAP_MAX_BYTES (128 * 1024 * 1024) /* WORLD_OBJECTS_MAX with their names */

static_assert(DIRECTORY_OBJECTS_MAX <= WORLD_OBJECTS_MAX,
	      "all that there can be is measured, never a part");

struct adding {
	struct measure_world *w;
	const struct session *s;
	const struct measure_world *before;
	struct world_object *v;
	struct smap jobs; /* name -> number; borrowed from the directory */
	int rc;
};

static enum pmsl_kind kind_of(const struct object *o)
{
	return o->kind == OBJECT_SITE	? PMSL_T_SITE
	       : o->kind == OBJECT_NODE ? PMSL_T_NODE
					: PMSL_T_PROCESS;
}

static bool is_in(const struct adding *a, const struct object *o)
{
	if (!scope_has(a->s->scope, o))
		return false;
	if (o->kind != OBJECT_PROC || o->state != MSG_STATE_ENDED)
		return true;
	return a->before && measure_world_find(a->before, o->token) != WORLD_NONE;
}

/* Jobs are numbered in order of appearance; all processes without a job have the same name. */
static uint32_t number_of_job(struct adding *a, const char *name)
{
	uintptr_t known = (uintptr_t)smap_find(&a->jobs, name);

	if (!known) {
		known = a->jobs.n + 1;
		if (smap_put(&a->jobs, name, (void *)known, NULL))
			a->rc = -ERR_NOMEM;
	}
	return (uint32_t)known;
}

static void hash_in(struct measure_world *w, const struct world_object *o)
{
	w->hash = bound_hash_text(bound_hash_mix(w->hash, (uint64_t)o->rank), o->token);
	w->hash = bound_hash_mix(bound_hash_mix(w->hash, o->parent), o->job);
}

/* Adds the object; returns its index in the world, or WORLD_NONE. */
static uint32_t add(struct adding *a, const struct object *o, uint32_t parent)
{
	struct measure_world *w = a->w;
	uint32_t at = (uint32_t)w->world.n;
	const char *name = o->kind == OBJECT_NODE && o->host[0] ? o->host : o->name;

	if (a->rc || !is_in(a, o))
		return WORLD_NONE;
	a->v[at] = (struct world_object){ .kind = kind_of(o),
					  .token = arena_copy(w->arena, o->token, strlen(o->token)),
					  .name = arena_copy(w->arena, name, strlen(name)),
					  .rank = o->kind == OBJECT_PROC ? o->rank : -1,
					  .parent = parent,
					  .is_alone = o->kind == OBJECT_PROC && o->rank < 0 &&
						      !o->flavour[0] };
	if (o->kind == OBJECT_PROC) {
		a->v[at].name = NULL;
		a->v[at].job = number_of_job(a, o->job);
	}
	if (!a->v[at].token || smap_put(&w->index, o->token, (void *)(uintptr_t)(at + 1), NULL)) {
		a->rc = -ERR_NOMEM;
		return WORLD_NONE;
	}
	w->world.n++;
	w->count[a->v[at].kind]++;
	hash_in(w, &a->v[at]);
	return at;
}

static void add_inside(struct adding *a, const struct list *children, uint32_t parent)
{
	list_each (i, children) {
		const struct object *o = list_entry(i, struct object, sibling);
		uint32_t at = o->kind == OBJECT_THREAD ? WORLD_NONE : add(a, o, parent);

		if (at != WORLD_NONE)
			add_inside(a, &o->children, at);
	}
}

static size_t count_max(const struct directory *d)
{
	return directory_count(d, OBJECT_SITE) + directory_count(d, OBJECT_NODE) +
	       directory_count(d, OBJECT_PROC);
}

struct measure_world *measure_world_new(const struct session *s, const struct measure_world *before)
{
	struct measure_world *w = calloc(1, sizeof(*w));
	struct adding a = { .w = w, .s = s, .before = before };

	if (!w)
		return NULL;
	smap_init(&a.jobs);
	smap_init(&w->index);
	w->arena = arena_new(WORLD_HEAP_MAX_BYTES);
	if (w->arena)
		a.v = arena_array(w->arena, count_max(s->view.directory) + 1, sizeof(*a.v));
	if (a.v) {
		add_inside(&a, directory_sites(s->view.directory), WORLD_NONE);
		w->world.v = a.v;
	}
	smap_done(&a.jobs);
	if (a.v && !a.rc)
		return w;
	measure_world_free(w);
	return NULL;
}

void measure_world_free(struct measure_world *w)
{
	if (!w)
		return;
	smap_done(&w->index);
	arena_free(w->arena);
	free(w);
}

uint32_t measure_world_find(const struct measure_world *w, const char *token)
{
	return (uint32_t)(uintptr_t)smap_find(&w->index, token) - 1;
}
