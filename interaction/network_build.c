/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The build of a network: checks that it is whole, orders it, and finds the objects in use on each
 * arc.
 */
#include "interaction/network.h"

#include <stdlib.h>

static int check_whole(const struct network *w, struct err *e)
{
	struct buf b = BUF_INIT(ERR_TEXT_BYTES);
	int rc = 0;

	if (!network_is_whole(w)) {
		network_put_missing(w, &b);
		rc = err_set(e, ERR_NOTFOUND, "incomplete: %s is missing", buf_str(&b));
	}
	buf_done(&b);
	return rc;
}

static int change_use(struct network *w, const struct network_use *op, uint32_t *use)
{
	int rc = op->is_end ? netuse_end(w->use, use, op->object)
			    : netuse_begin(w->use, use, op->object);

	if (rc != -ERR_NOTFOUND)
		return rc;
	w->anomaly[NETWORK_END_WITHOUT_BEGIN]++;
	return 0;
}

/* A fork or join passes uses on before the event's own changes. */
static int use_at(struct network *w, struct network_vertex *v, uint32_t *use)
{
	uint32_t none = 0, *own = &use[v->task], *other = &none;
	int rc = 0;

	if (v->kind == NETWORK_FORK) {
		other = &use[v->other];
		*other = *own;
		rc = netuse_fork(w->use, other);
	} else if (v->kind == NETWORK_JOIN) {
		rc = netuse_join(w->use, own, use[v->other]);
	}
	for (uint32_t i = 0; i < v->nops && !rc; i++) {
		const struct network_use *op = &w->op[v->ops + i];

		rc = change_use(w, op, op->is_child ? other : own);
	}
	v->use = *own;
	v->child_use = *other;
	return rc;
}

/* Sets the objects in use on a contracted arc, by its pieces. */
static int use_stretch(struct network *w, uint32_t head)
{
	const struct network_stretch *s = network_stretch(w, head);
	struct network_arc a;
	int rc = 0;

	network_arc(w, head, false, &a);
	for (uint32_t i = 0; i < s->n && !rc; i++) {
		struct network_piece *p = &w->piece[s->first + i];

		p->use = a.use;
		rc = p->is_child ? netuse_fork(w->use, &p->use) : 0;
		for (uint64_t left = p->with; left && !rc; left &= left - 1)
			rc = netuse_begin(w->use, &p->use, (uint32_t)__builtin_ctzll(left));
	}
	return rc;
}

static int use_all(struct network *w, struct err *e)
{
	uint32_t *use = calloc(w->ntask, sizeof(*use));
	int rc = use ? 0 : -ERR_NOMEM;

	for (size_t i = 0; i < w->n && !rc; i++)
		rc = use_at(w, &w->v[i], use);
	for (uint32_t i = 0; i < w->n && !rc; i++)
		rc = w->v[i].stretch ? use_stretch(w, i) : 0;
	free(use);
	return rc ? err_set(e, (enum err_code) - rc, "no room for the objects in use") : 0;
}

static void find_last(struct network *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		if (w->v[i].kind != NETWORK_SINK)
			continue;
		if (w->vf == NETWORK_NONE ||
		    network_ends_later(w, i, w->v[i].t, w->vf, w->v[w->vf].t))
			w->vf = i;
	}
}

/* Reports waits that end at no join, and joins at which both sub-tasks wait. */
static void find_odd_waits(struct network *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		const struct network_vertex *v = &w->v[i];
		struct network_arc own, ending;

		if (v->kind == NETWORK_JOIN) {
			network_arc(w, i, false, &own);
			network_arc(w, i, true, &ending);
			w->anomaly[NETWORK_BOTH_BLOCKED] += own.blocks && ending.blocks;
		} else if (v->tail != NETWORK_NONE && w->v[v->tail].task == v->task) {
			w->anomaly[NETWORK_WAIT_WITHOUT_JOIN] += w->v[v->tail].blocks;
		}
	}
}

int network_build(struct network *w, struct err *e)
{
	int rc = check_whole(w, e);

	rc = rc ? rc : network_order(w, e);
	rc = rc ? rc : use_all(w, e);
	if (rc)
		return rc;
	find_last(w);
	find_odd_waits(w);
	w->is_built = true;
	return 0;
}
