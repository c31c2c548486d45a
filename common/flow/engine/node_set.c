/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets: an aggregate of all inputs of a key. If a key is evicted, the set fires with the inputs
 * that have arrived.
 */
#include "common/flow/engine/flow_internal.h"

#include <stdlib.h>

int set_init(struct flow *f, struct fnode *n)
{
	struct set_state *s = &n->set;
	size_t keys = 1;

	(void)f;
	if (n->domain == FLOW_VT) {
		if (match_init(&s->m, n->window, n->nin))
			return -ERR_NOMEM;
		keys = s->m.window;
		n->state_bytes = match_bytes(n->window, n->nin);
	}
	s->part = calloc(keys, sizeof(*s->part));
	if (agg_kind_has_room(n->fold.agg))
		s->room = calloc(keys, sizeof(*s->room));
	if (!s->part || (agg_kind_has_room(n->fold.agg) && !s->room)) {
		set_done(n);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < keys; i++)
		partial_init(&s->part[i], n->fold.agg, s->room ? &s->room[i] : NULL);
	n->state_bytes += keys * (sizeof(*s->part) + (s->room ? sizeof(*s->room) : 0));
	return 0;
}

void set_done(struct fnode *n)
{
	match_done(&n->set.m);
	free(n->set.part);
	free(n->set.room);
}

/* Counts the contributors of inputs that have not arrived. */
static void count_absent(const struct flow *f, const struct fnode *n, uint32_t slot,
			 struct flow_partial *p)
{
	for (uint32_t k = 0; k < n->nin; k++)
		if (!match_has(&n->set.m, slot, k))
			p->t.n += f->node[n->in[k]].behind;
}

/* Fires a key, which is already removed from the table. whole: every input has arrived. */
static void fire(struct flow *f, struct fnode *n, uint32_t slot, bool whole)
{
	struct flow_partial *p = &n->set.part[slot];
	struct flow_token t;

	if (!whole)
		count_absent(f, n, slot, p);
	t = partial_finish(p, n->fold.q, n->partial);
	flow_emit(f, n, &t, n->partial ? &p->a : NULL);
}

static enum match_what put(struct flow *f, struct fnode *n, int64_t key, uint32_t input,
			   uint32_t *slot)
{
	enum match_what what;

	while ((what = match_put(&n->set.m, key, input, slot)) == MATCH_FULL) {
		if (!match_evict(&n->set.m, slot))
			continue;
		n->count.incomplete++;
		fire(f, n, *slot, false);
	}
	n->count.late += what == MATCH_LATE;
	n->count.doubles += what == MATCH_DOUBLE;
	return what;
}

void set_take(struct flow *f, struct fnode *n, uint32_t input, const struct flow_token *t,
	      const struct agg *a)
{
	struct set_state *s = &n->set;
	uint32_t slot;

	switch (put(f, n, t->key, input, &slot)) {
	case MATCH_FIRST:
		partial_clear(&s->part[slot]);
		break;
	case MATCH_MORE:
		break;
	default:
		return;
	}
	partial_fold(&s->part[slot], t, a, PARTIAL_OVER_SET);
	if (!match_is_complete(&s->m, slot))
		return;
	match_fire(&s->m, t->key);
	fire(f, n, slot, s->m.nopen == s->m.nin);
}

static void fire_complete(struct flow *f, struct fnode *n)
{
	for (uint32_t i = 0; i < n->set.m.n; i++) {
		const struct match_key *k = match_at(&n->set.m, i);
		uint32_t slot = k->slot;

		if (slot == MATCH_FIRED || !match_is_complete(&n->set.m, slot))
			continue;
		n->count.incomplete++;
		match_fire(&n->set.m, k->key);
		fire(f, n, slot, false);
	}
}

void set_close(struct flow *f, struct fnode *n, uint32_t input, bool closed)
{
	if (!closed)
		match_reopen(&n->set.m, input);
	else if (match_close(&n->set.m, input))
		fire_complete(f, n);
}

void set_read(struct flow *f, struct fnode *n)
{
	struct flow_partial *p = &n->set.part[0];

	partial_clear(p);
	for (uint32_t k = 0; k < n->nin; k++) {
		const struct fnode *in = &f->node[n->in[k]];

		partial_fold(p, &in->now, in->now_agg, PARTIAL_OVER_SET);
	}
	n->now = partial_finish(p, n->fold.q, n->partial);
	n->now_agg = n->partial ? &p->a : NULL;
}
