/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/netretime.h"

#include <stdlib.h>

void netretime_done(struct netretime *r)
{
	free(r->t);
	free(r->waits);
	netpath_done(&r->path);
	*r = (struct netretime){ 0 };
}

/*
 * Returns the time of an arc without its wait. If both arcs into a join are B-arcs, that of the
 * path is ordinary time.
 */
static int64_t work(const struct network *w, const struct network_arc *a, bool is_ending)
{
	struct network_arc other;
	bool is_unique;

	if (!a->blocks)
		return network_length(w, a);
	network_arc(w, a->head, !is_ending, &other);
	if (other.blocks && network_takes_ending(w, a->head, &is_unique) == is_ending)
		return network_length(w, a);
	return 0;
}

struct retiming {
	const struct network *w;
	const struct netretime_change *change;
	size_t n;
	struct netretime *r;
};

/* The time at which an arc reaches its head. Returns false if it has no number. */
static bool arrive(const struct retiming *x, const struct network_arc *a, bool is_ending,
		   int64_t *out)
{
	int64_t length = work(x->w, a, is_ending);

	for (size_t i = 0; i < x->n; i++)
		if (x->change[i].head == a->head && x->change[i].is_ending == is_ending)
			length = x->change[i].length;
	return !__builtin_add_overflow(x->r->t[a->tail], length, out);
}

static bool retime_join(const struct retiming *x, uint32_t v)
{
	struct network_arc own, ending;
	int64_t a, b;
	bool is_unique;

	network_arc(x->w, v, false, &own);
	network_arc(x->w, v, true, &ending);
	if (!arrive(x, &own, false, &a) || !arrive(x, &ending, true, &b))
		return false;
	x->r->t[v] = a > b ? a : b;
	x->r->waits[v] = (uint8_t)((a < b ? NETRETIME_OWN : 0) | (b < a ? NETRETIME_ENDING : 0));
	/* An arc with a wait of 0 ns is still the one that is not on the path. */
	if (a == b && (own.blocks || ending.blocks))
		x->r->waits[v] = network_takes_ending(x->w, v, &is_unique) ? NETRETIME_OWN
									   : NETRETIME_ENDING;
	return true;
}

static bool retime(const struct retiming *x, uint32_t v)
{
	struct network_arc a;

	if (x->w->v[v].kind == NETWORK_JOIN)
		return retime_join(x, v);
	if (network_arc(x->w, v, false, &a))
		return arrive(x, &a, false, &x->r->t[v]);
	x->r->t[v] = x->w->v[v].t;
	return true;
}

static int retime_all(const struct retiming *x, struct err *e)
{
	const struct network *w = x->w;
	struct netretime *r = x->r;

	r->vf = NETWORK_NONE;
	for (uint32_t i = 0; i < w->n; i++) {
		if (!retime(x, i))
			return err_set(e, ERR_LIMIT, "a time would be 2^63 ns or more");
		if (w->v[i].kind != NETWORK_SINK)
			continue;
		if (r->vf == NETWORK_NONE || network_ends_later(w, i, r->t[i], r->vf, r->t[r->vf]))
			r->vf = i;
	}
	if (__builtin_sub_overflow(r->t[r->vf], r->t[w->v0], &r->response))
		return err_set(e, ERR_LIMIT, "the response time would be 2^63 ns or more");
	return 0;
}

static uint32_t back(const struct network *w, const struct netretime *r, uint32_t v,
		     bool *is_ending, bool *is_unique)
{
	*is_ending = w->v[v].kind == NETWORK_JOIN && r->waits[v] == NETRETIME_OWN;
	*is_unique &= w->v[v].kind != NETWORK_JOIN || r->waits[v];
	return *is_ending ? w->v[v].tail2 : w->v[v].tail;
}

static int find_path(const struct network *w, struct netretime *r, struct err *e)
{
	struct netpath *p = &r->path;
	bool is_ending, is_unique = true;
	size_t i;

	*p = (struct netpath){ .is_unique = true, .length = r->response };
	for (uint32_t v = r->vf; v != NETWORK_NONE; p->n++)
		v = back(w, r, v, &is_ending, &is_unique);
	p->step = calloc(p->n, sizeof(*p->step));
	if (!p->step)
		return err_nomem(e);
	i = p->n;
	for (uint32_t v = r->vf; v != NETWORK_NONE;) {
		p->step[--i].v = v;
		v = back(w, r, v, &p->step[i].is_ending, &p->is_unique);
	}
	return 0;
}

int netretime(const struct network *w, const struct netretime_change *change, size_t n,
	      struct netretime *out, struct err *e)
{
	struct netretime r = { .t = calloc(w->n, sizeof(*r.t)), .waits = calloc(w->n, 1) };
	struct retiming x = { w, change, n, &r };
	int rc = r.t && r.waits ? 0 : err_nomem(e);

	for (size_t i = 0; i < n && !rc; i++)
		if (change[i].length < 0)
			rc = err_set(e, ERR_INVALID, "an arc cannot take less than 0 ns");
	rc = rc ? rc : retime_all(&x, e);
	rc = rc ? rc : find_path(w, &r, e);
	if (rc)
		netretime_done(&r);
	else
		*out = r;
	return rc;
}
