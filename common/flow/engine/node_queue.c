/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links of the VT domain: all tokens of an interval in one batch. At the receiver the tokens wait
 * for their read. Then tokens of all hosts are passed on in the order of their keys. So windows of
 * later nodes may be smaller than an interval.
 */
#include "common/flow/engine/flow_internal.h"

#include <stdlib.h>

#define STRIDE_KEYS 32 /* below the default of every window */

int queue_init(struct fnode *n)
{
	struct queue_state *s = &n->queue;
	bool has_room = n->partial && agg_kind_has_room(n->fold.agg);

	s->cap = n->window;
	s->t = calloc(s->cap, sizeof(*s->t));
	if (n->partial)
		s->a = calloc(s->cap, sizeof(*s->a));
	if (has_room)
		s->room = calloc(s->cap, sizeof(*s->room));
	if (!s->t || (n->partial && !s->a) || (has_room && !s->room)) {
		queue_done(n);
		return -ERR_NOMEM;
	}
	for (uint32_t i = 0; n->partial && i < s->cap; i++)
		agg_init(&s->a[i], n->fold.agg, has_room ? &s->room[i] : NULL);
	n->state_bytes = s->cap * (sizeof(*s->t) + (n->partial ? sizeof(*s->a) : 0) +
				   (has_room ? sizeof(*s->room) : 0));
	return 0;
}

void queue_done(struct fnode *n)
{
	free(n->queue.t);
	free(n->queue.a);
	free(n->queue.room);
}

static bool put(struct fnode *n, const struct flow_token *t, const struct agg *a)
{
	struct queue_state *s = &n->queue;
	uint32_t at = (s->head + s->n) % s->cap;

	if (s->n == s->cap) {
		n->count.overflow++;
		return false;
	}
	s->t[at] = *t;
	if (s->a)
		agg_copy(&s->a[at], a);
	s->n++;
	return true;
}

void queue_put(struct fnode *n, const struct flow_token *t, const struct agg *a)
{
	n->queue.lost += !put(n, t, a);
}

/* --- sending: a batch never wraps around, because each batch empties the queue */

void queue_send(struct flow *f, const struct fmeas *m, struct fnode *n, int64_t read)
{
	struct queue_state *s = &n->queue;
	struct flow_batch b = { .measurement = m->id,
				.link = n->link,
				.read = read,
				.domain = FLOW_VT,
				.partial = n->partial,
				.agg = n->fold.agg,
				.lost = s->lost,
				.n = s->n,
				.t = s->t,
				.a = s->a };

	n->count.out += s->n;
	s->n = s->head = 0;
	s->lost = 0;
	f->out.on_batch(f->out.arg, &b);
}

/* --- receiving */

static struct queue_mark *mark_of(struct queue_state *s, int64_t read)
{
	struct queue_mark *last = s->nmarks ? &s->mark[s->nmarks - 1] : NULL;

	if (last && last->read >= read)
		return last;
	if (s->nmarks == FLOW_READS_OPEN)
		return NULL;
	s->mark[s->nmarks] = (struct queue_mark){ .read = read };
	return &s->mark[s->nmarks++];
}

void queue_take(struct fnode *n, int64_t last_read, const struct flow_batch *b)
{
	bool late = b->read <= last_read;
	struct queue_mark *mark = mark_of(&n->queue, late ? last_read + 1 : b->read);

	n->count.in += b->n;
	n->count.late += late ? b->n : 0;
	if (!mark) {
		n->count.overflow += b->n;
		return;
	}
	n->count.overflow += b->lost;
	mark->lost |= b->lost > 0;
	for (uint32_t i = 0; i < b->n; i++) {
		if (put(n, &b->t[i], b->a ? &b->a[i] : NULL))
			mark->n++;
		else
			mark->lost = true;
	}
}

static bool is_queue_in(const struct fnode *n)
{
	return n->kind == FLOW_LINK_IN && n->domain == FLOW_VT;
}

/* True if a token may be passed on now. Removes marks, without tokens, of past reads. */
static bool has_due(struct queue_state *s, int64_t read)
{
	while (s->nmarks && s->mark[0].read <= read && !s->mark[0].n) {
		for (uint32_t i = 1; i < s->nmarks; i++)
			s->mark[i - 1] = s->mark[i];
		s->nmarks--;
	}
	return s->nmarks && s->mark[0].read <= read;
}

static void flow_one(struct flow *f, struct fnode *n)
{
	struct queue_state *s = &n->queue;
	uint32_t at = s->head;

	if (s->mark[0].lost)
		s->t[at].flags |= FLOW_LOST;
	s->head = (s->head + 1) % s->cap;
	s->n--;
	s->mark[0].n--;
	flow_emit(f, n, &s->t[at], s->a ? &s->a[at] : NULL);
}

/* Finds the lowest key at the front of the queues. Returns false if none is due. */
static bool lowest(struct flow *f, const struct fmeas *m, int64_t read, int64_t *key)
{
	bool any = false;

	for (size_t i = 0; i < m->npass; i++) {
		struct fnode *n = &f->node[m->pass[i]];

		if (!is_queue_in(n) || !has_due(&n->queue, read))
			continue;
		if (!any || n->queue.t[n->queue.head].key < *key)
			*key = n->queue.t[n->queue.head].key;
		any = true;
	}
	return any;
}

void queue_flow(struct flow *f, struct fmeas *m, int64_t read)
{
	int64_t key = 0, until;

	while (lowest(f, m, read, &key)) {
		until = key > INT64_MAX - STRIDE_KEYS ? INT64_MAX : key + STRIDE_KEYS;
		for (size_t i = 0; i < m->npass; i++) {
			struct fnode *n = &f->node[m->pass[i]];

			while (is_queue_in(n) && has_due(&n->queue, read) &&
			       n->queue.t[n->queue.head].key <= until)
				flow_one(f, n);
		}
	}
}
