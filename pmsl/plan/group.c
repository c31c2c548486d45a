/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/plan/group.h"

#include "common/base/array.h"

#include <stdlib.h>

void groups_done(struct groups *all)
{
	free(all->v);
	free(all->of);
	free(all->in);
}

struct group *groups_of(const struct groups *all, size_t i)
{
	return all->of[i] ? &all->v[all->of[i] - 1] : NULL;
}

/* Returns the number of the group of that place + 1; 0 if there is no memory. */
static uint32_t group_at(struct groups *all, struct map *seen, struct place at)
{
	uint64_t key = (uint64_t)at.kind << 32 | at.object;
	uint32_t known = (uint32_t)(uintptr_t)map_find(seen, key);

	if (known)
		return known;
	if (array_grow(&all->v, &all->cap, all->n + 1, sizeof(*all->v), WORLD_OBJECTS_MAX + 1) ||
	    map_put(seen, key, (void *)(uintptr_t)(all->n + 1), NULL))
		return 0;
	all->v[all->n] = (struct group){ .at = at };
	return (uint32_t)++all->n;
}

/* Assigns the inputs to groups, and counts the inputs of each group. */
static int divide(struct groups *all, const struct bound *b, const struct bound_node *set,
		  struct place here)
{
	struct map seen;
	int rc = 0;

	map_init(&seen);
	for (size_t i = 0; i < set->n.nin && !rc; i++) {
		struct place at = b->node[set->n.in[i]]->place;

		if (!place_is_below(b->world, at, here))
			continue;
		all->of[i] = group_at(all, &seen, place_step_down(b->world, at, here));
		if (all->of[i])
			groups_of(all, i)->n++;
		else
			rc = -ERR_NOMEM;
	}
	map_done(&seen);
	return rc;
}

int groups_make(struct groups *all, const struct bound *b, const struct bound_node *set,
		struct place here)
{
	size_t at = 0;
	int rc;

	*all = (struct groups){ .of = calloc(set->n.nin, sizeof(*all->of)),
				.in = calloc(set->n.nin, sizeof(*all->in)) };
	rc = all->of && all->in ? divide(all, b, set, here) : -ERR_NOMEM;
	for (size_t i = 0; i < all->n; i++) {
		all->v[i].in = all->in + at;
		at += all->v[i].n;
		all->v[i].n = 0;
	}
	for (size_t i = 0; i < set->n.nin && !rc; i++) {
		struct group *g = groups_of(all, i);

		if (g)
			g->in[g->n++] = set->n.in[i];
	}
	return rc;
}
