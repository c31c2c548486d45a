/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/netpath.h"

#include <stdlib.h>

void netpath_done(struct netpath *p)
{
	free(p->step);
	*p = (struct netpath){ 0 };
}

int64_t netpath_response(const struct network *w)
{
	return w->v[w->vf].t - w->v[w->v0].t;
}

/* Moves to the vertex before; true as long as there is one. */
static bool go_back(const struct network *w, uint32_t *at, bool *is_ending, bool *is_unique)
{
	const struct network_vertex *v = &w->v[*at];
	bool is_sure = true;

	*is_ending = v->kind == NETWORK_JOIN && network_takes_ending(w, *at, &is_sure);
	if (!*is_ending && v->stretch)
		is_sure &= !network_stretch(w, *at)->is_ambiguous;
	*is_unique &= is_sure;
	*at = *is_ending ? v->tail2 : v->tail;
	return *at != NETWORK_NONE;
}

int netpath_find(const struct network *w, struct netpath *out, struct err *e)
{
	struct netpath p = { .n = 1, .is_unique = true, .length = netpath_response(w) };
	bool is_ending, is_unique = true;

	for (uint32_t at = w->vf; go_back(w, &at, &is_ending, &is_unique);)
		p.n++;
	p.step = calloc(p.n, sizeof(*p.step));
	if (!p.step)
		return err_nomem(e);
	for (uint32_t at = w->vf, i = (uint32_t)p.n; i-- > 0;) {
		p.step[i].v = at;
		go_back(w, &at, &p.step[i].is_ending, &p.is_unique);
	}
	*out = p;
	return 0;
}

int64_t netpath_slack(const struct network *w, uint32_t join)
{
	struct network_arc lost;
	bool is_unique;

	network_arc(w, join, !network_takes_ending(w, join, &is_unique), &lost);
	return lost.blocks ? network_length(w, &lost) : 0;
}
