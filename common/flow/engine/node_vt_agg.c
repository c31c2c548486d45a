/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates over virtual time: any number of keys in, one token for each read. */
#include "common/flow/engine/flow_internal.h"

#include <stdlib.h>

#define TOTAL 2
#define PARTS 3

int vt_agg_init(struct fnode *n)
{
	struct agg_state *s = &n->agg;
	bool has_room = agg_kind_has_room(n->fold.agg);

	s->part = calloc(PARTS, sizeof(*s->part));
	if (has_room)
		s->room = calloc(PARTS, sizeof(*s->room));
	if (!s->part || (has_room && !s->room)) {
		vt_agg_done(n);
		return -ERR_NOMEM;
	}
	for (int i = 0; i < PARTS; i++)
		partial_init(&s->part[i], n->fold.agg, s->room ? &s->room[i] : NULL);
	n->state_bytes = PARTS * (sizeof(*s->part) + (has_room ? sizeof(*s->room) : 0));
	return 0;
}

void vt_agg_done(struct fnode *n)
{
	free(n->agg.part);
	free(n->agg.room);
}

/*
 * Takes a token into the interval of its newest data: (last read, announced end], or the next one.
 * The token's own time is a mean: if its data are from both sides of a read, that time would often
 * be too early.
 */
void vt_agg_take(struct flow *f, struct fnode *n, const struct flow_token *t, const struct agg *a)
{
	const struct fmeas *m = &f->meas[n->measurement];
	struct agg_state *s = &n->agg;
	struct flow_partial *p = &s->part[s->now];

	if (t->newest <= m->start) {
		n->count.early++;
		return;
	}
	if (m->announced && t->newest > m->until)
		p = &s->part[!s->now];
	partial_fold(p, t, a, PARTIAL_OVER_KEYS);
	if (m->last_read && t->newest <= m->last_t) {
		n->count.late++;
		p->t.flags |= FLOW_LATE;
	}
}

/*
 * Adds the aggregate of this read to the total. The flag `late` belongs to one read, and is
 * removed.
 */
static void add_to_total(struct agg_state *s)
{
	struct flow_token t = s->part[s->now].t;

	t.flags &= ~(uint32_t)FLOW_LATE;
	if (t.n)
		partial_fold(&s->part[TOTAL], &t, &s->part[s->now].a, PARTIAL_OVER_KEYS);
	s->part[TOTAL].is_reported |= s->part[s->now].is_reported;
}

/* Ends the interval: the next one becomes the current one. */
static void turn(struct agg_state *s, enum flow_since since)
{
	struct flow_partial *p = &s->part[s->now];

	if (since == FLOW_SINCE_START)
		add_to_total(s);
	else
		partial_copy(&s->part[TOTAL], p);
	partial_clear(p);
	s->now = !s->now;
}

/*
 * Without tokens the result is the value of an empty set, with the contributors that could have
 * reported.
 */
void vt_agg_read(struct flow *f, struct fnode *n, int64_t read, nsec_t at)
{
	const struct fnode *in = &f->node[n->in[0]];
	struct flow_partial p;
	uint32_t late = n->agg.part[n->agg.now].t.flags & FLOW_LATE;

	turn(&n->agg, n->fold.since);
	n->agg.has_lived =
		in->alive_k > 0 || (n->agg.has_lived && n->fold.since == FLOW_SINCE_START);
	p = n->agg.part[TOTAL];
	p.is_reported |= !p.t.n && n->agg.has_lived;
	if (!p.t.n)
		p.t.oldest = p.t.newest = at;
	p.t.key = read;
	p.t.requester = f->meas[n->measurement].id;
	p.t.time = at;
	p.t.flags |= late;
	flow_coverage_worse(&p.t.k, &p.t.n, in->alive_k, in->alive_n);
	n->now = partial_finish(&p, n->fold.q, n->partial);
	n->now_agg = n->partial ? &n->agg.part[TOTAL].a : NULL;
}
