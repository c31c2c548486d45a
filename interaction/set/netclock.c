/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/set/netclock.h"

#include "common/base/array.h"

#include <stdlib.h>

void netclock_init(struct netclock *c)
{
	*c = (struct netclock){ .n = 0 };
	map_init(&c->index);
}

void netclock_done(struct netclock *c)
{
	free(c->pair);
	map_done(&c->index);
}

static int find_pair(struct netclock *c, uint32_t a, uint32_t b, struct netclock_pair **out)
{
	uint64_t key = (uint64_t)a << 32 | b;
	void *known = map_find(&c->index, key);
	int rc = 0;

	if (!known) {
		rc = array_grow(&c->pair, &c->cap, c->n + 1, sizeof(*c->pair), NETCLOCK_PAIRS_MAX);
		rc = rc ? rc : map_put(&c->index, key, (void *)(uintptr_t)(c->n + 1), NULL);
		if (rc)
			return rc;
		c->pair[c->n++] = (struct netclock_pair){
			.a = a, .b = b, .least = INT64_MIN, .most = INT64_MAX
		};
		*out = &c->pair[c->n - 1];
		return 0;
	}
	*out = &c->pair[(uintptr_t)known - 1];
	return 0;
}

/* Narrows the bounds by a message: it is received at the time of its sending or later. */
static void bound(struct netclock_pair *p, bool is_to_b, int64_t sent, int64_t received)
{
	int64_t bound;

	p->to_b += is_to_b;
	p->to_a += !is_to_b;
	p->backward += received < sent;
	if (__builtin_sub_overflow(is_to_b ? received : sent, is_to_b ? sent : received, &bound))
		p->has_overflow = true;
	else if (is_to_b)
		p->most = bound < p->most ? bound : p->most;
	else
		p->least = bound > p->least ? bound : p->least;
}

static int add_arc(struct netclock *c, const struct network *w, const struct network_arc *arc)
{
	const struct network_vertex *tail = &w->v[arc->tail], *head = &w->v[arc->head];
	bool is_to_b = tail->node < head->node;
	struct netclock_pair *p;
	int rc;

	if (tail->node == head->node || tail->node == NETWORK_NONE || head->node == NETWORK_NONE)
		return 0;
	rc = find_pair(c, is_to_b ? tail->node : head->node, is_to_b ? head->node : tail->node, &p);
	if (!rc)
		bound(p, is_to_b, tail->t, head->t);
	return rc;
}

int netclock_add(struct netclock *c, const struct network *w, struct err *e)
{
	struct network_arc arc;
	int rc = 0;

	for (uint32_t i = 0; i < w->n && !rc; i++)
		for (int k = 0; k < 2 && !rc; k++)
			if (network_arc(w, i, k, &arc))
				rc = add_arc(c, w, &arc);
	return rc ? err_set(e, (enum err_code) - rc, "no room for more pairs of nodes") : 0;
}

static int by_nodes(const void *x, const void *y)
{
	const struct netclock_pair *p = x, *q = y;

	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return p->b < q->b ? -1 : p->b > q->b;
}

void netclock_sort(struct netclock *c)
{
	if (c->n)
		qsort(c->pair, c->n, sizeof(*c->pair), by_nodes);
}
