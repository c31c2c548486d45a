/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/netspent.h"

#include "common/base/array.h"

#include <stdlib.h>

void netspent_done(struct netspent *s)
{
	free(s->use);
	free(s->task);
	*s = (struct netspent){ 0 };
}

static bool is_member(const struct network *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (netuse_is_member(w->use, w->v[i].use) ||
		    (w->v[i].kind == NETWORK_FORK && netuse_is_member(w->use, w->v[i].child_use)))
			return true;
	return false;
}

/* Adds time to a part, which is made when place[of] is 0. */
static int add(struct netspent_part **part, size_t *n, size_t *cap, uint32_t *place,
	       struct netspent_part more)
{
	if (!*place) {
		int rc = array_grow(part, cap, *n + 1, sizeof(**part), SIZE_MAX / sizeof(**part));

		if (rc)
			return rc;
		(*part)[(*n)++].of = more.of;
		*place = (uint32_t)*n;
	}
	(*part)[*place - 1].ns += more.ns;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct netspent_part *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->of < y->of ? -1 : 1;
}

static int follow(const struct network *w, const struct netpath *p, struct netspent *s,
		  uint32_t *use_place, uint32_t *task_place)
{
	size_t use_cap = 0, task_cap = 0;
	int rc = 0;

	for (size_t i = 1; i < p->n && !rc; i++) {
		struct network_arc a;
		int64_t ns;
		uint64_t holds;
		uint32_t shape;

		network_arc(w, p->step[i].v, p->step[i].is_ending, &a);
		ns = network_length(w, &a);
		holds = netuse_holds(w->use, a.use);
		shape = netuse_shape(w->use, a.use);
		for (; holds; holds &= holds - 1)
			s->state[__builtin_ctzll(holds)] += ns;
		rc = add(&s->use, &s->nuse, &use_cap, &use_place[shape],
			 (struct netspent_part){ shape, ns });
		rc = rc ? rc
			: add(&s->task, &s->ntask, &task_cap, &task_place[a.task],
			      (struct netspent_part){ a.task, ns });
	}
	return rc;
}

int netspent_find(const struct network *w, const struct netpath *p, struct netspent *out,
		  struct err *e)
{
	uint32_t *use_place = calloc(netuse_count(w->use), sizeof(*use_place)),
		 *task_place = calloc(w->ntask, sizeof(*task_place));
	struct netspent s = { .is_member = is_member(w) };
	int rc = use_place && task_place ? follow(w, p, &s, use_place, task_place) : -ERR_NOMEM;

	free(use_place);
	free(task_place);
	if (rc) {
		netspent_done(&s);
		return err_nomem(e);
	}
	if (s.nuse)
		qsort(s.use, s.nuse, sizeof(*s.use), by_time);
	*out = s;
	return 0;
}
