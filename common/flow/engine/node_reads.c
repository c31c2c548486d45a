/* SPDX-License-Identifier: Apache-2.0 */
/* Links of the READ domain: one value for each read, stored until that read is read here. */
#include "common/flow/engine/flow_internal.h"

#include <stdlib.h>

/*
 * True if late data count in the next read. Two plain values are merged only if the result is of
 * the same kind.
 */
static bool takes_late(const struct fnode *n)
{
	enum agg_kind agg = n->fold.agg;

	return n->fold.since == FLOW_SINCE_LAST &&
	       (n->partial || agg == AGG_SUM || agg == AGG_MIN || agg == AGG_MAX);
}

int reads_init(struct fnode *n)
{
	struct reads_state *s = &n->reads;
	/*
	 * For other plain values the graph may name any aggregate, so that nothing is aggregated.
	 */
	enum agg_kind agg = n->partial || takes_late(n) ? n->fold.agg : AGG_COUNT;
	bool has_room = agg_kind_has_room(agg);

	s->part = calloc(FLOW_READS_OPEN, sizeof(*s->part));
	if (has_room)
		s->room = calloc(FLOW_READS_OPEN, sizeof(*s->room));
	if (!s->part || (has_room && !s->room)) {
		reads_done(n);
		return -ERR_NOMEM;
	}
	for (int i = 0; i < FLOW_READS_OPEN; i++)
		partial_init(&s->part[i], agg, has_room ? &s->room[i] : NULL);
	n->state_bytes = FLOW_READS_OPEN * (sizeof(*s->part) + (has_room ? sizeof(*s->room) : 0));
	return 0;
}

void reads_done(struct fnode *n)
{
	free(n->reads.part);
	free(n->reads.room);
}

static struct flow_partial *open_slot(struct reads_state *s, int64_t read)
{
	int64_t at = read % FLOW_READS_OPEN;

	if (s->key[at] != read) {
		s->key[at] = read;
		partial_clear(&s->part[at]);
	}
	return &s->part[at];
}

/*
 * Merges a token with the data of that read. Late data count, but their sender does not count as a
 * contributor.
 */
static void merge(struct flow_partial *p, const struct flow_token *t, const struct agg *a,
		  bool late)
{
	struct flow_token about = *t;
	uint32_t k = p->t.k;

	if (late) {
		about.k = 0;
		about.flags &=
			/* these flags belong to a past read */
			~(uint32_t)(FLOW_PARTIAL | FLOW_MISSING);
		about.flags |= FLOW_LATE;
	}
	partial_fold(p, &about, a, PARTIAL_OVER_SET);
	p->t.k = about.k > k ? about.k : k;
	p->t.n = about.n;
}

/* True if the batch has no data: calls in progress will count in a later difference. */
static bool says_nothing(const struct flow_batch *b)
{
	return !b->partial && !flow_token_has_value(&b->t[0]) && !(b->t[0].flags & FLOW_NAN);
}

void reads_take(struct fnode *n, int64_t last_read, const struct flow_batch *b)
{
	bool late = b->read <= last_read;

	n->count.in += b->n;
	if (!b->n)
		return;
	n->count.late += late;
	if (late && (!takes_late(n) || says_nothing(b)))
		return; /* the data count in the next read, or have counted in their own */
	if (n->partial || takes_late(n))
		merge(open_slot(&n->reads, late ? last_read + 1 : b->read), &b->t[0],
		      n->partial ? &b->a[0] : NULL, late);
	else
		open_slot(&n->reads, b->read)->t = b->t[0];
}

/* Returns a single plain value unchanged. Without any there is no value. */
static struct flow_token value_of(const struct fnode *n, const struct flow_partial *p)
{
	struct flow_token t = p->t;

	if (n->partial || agg_count(&p->a))
		return partial_finish(p, n->fold.q, n->partial);
	if (takes_late(n)) {
		t.value = NAN;
		t.error = 0;
	}
	return t;
}

/* Keeps the data of reads that were skipped here, so that data since the last read are not lost. */
static void carry_over(struct fnode *n, int64_t last_read, int64_t read)
{
	int64_t first = read - last_read > FLOW_READS_OPEN ? read - FLOW_READS_OPEN : last_read;

	for (int64_t r = first + 1; r < read; r++) {
		int64_t at = r % FLOW_READS_OPEN;
		const struct flow_partial *p = &n->reads.part[at];
		struct flow_token t;

		if (n->reads.key[at] != r)
			continue;
		n->reads.key[at] = 0;
		t = value_of(n, p);
		if (takes_late(n))
			merge(open_slot(&n->reads, read), &t, n->partial ? &p->a : NULL, true);
	}
}

void reads_read(struct fnode *n, int64_t last_read, int64_t read, nsec_t t)
{
	int64_t at = read % FLOW_READS_OPEN;
	struct flow_partial *p = &n->reads.part[at];

	carry_over(n, last_read, read);
	if (n->reads.key[at] != read) {
		partial_clear(p);
		p->t = flow_token_missing(read, t, n->behind);
	}
	n->reads.key[at] = 0;
	p->t.key = read;
	n->now = value_of(n, p);
	n->now_agg = n->partial ? &p->a : NULL;
}
