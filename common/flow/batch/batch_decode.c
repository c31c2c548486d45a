/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes batches of batch_encode.c. The bytes are untrusted. */
#include "common/base/array.h"
#include "common/base/cur.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/flow/batch/batch.h"
#include "common/flow/batch/batch_format.h"
#include "common/flow/graph/graph_limits.h"

#include <stdlib.h>
#include <string.h>

#define ROOMS_MAX (FLOW_STATE_MAX_BYTES / FLOW_SKETCH_BYTES) /* no link can have more */

void flow_batch_room_done(struct flow_batch_room *room)
{
	free(room->t);
	free(room->a);
	free(room->room);
	*room = (struct flow_batch_room){ 0 };
}

static int64_t get_zigzag(struct cur *c)
{
	uint64_t v = cur_varint(c);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static int64_t get_difference(struct cur *c, int64_t from)
{
	return (int64_t)((uint64_t)from + (uint64_t)get_zigzag(c));
}

static uint64_t get_count(struct cur *c, uint64_t max)
{
	uint64_t v = cur_varint(c);

	c->failed |= v > max;
	return c->failed ? 0 : v;
}

/* Reads a bound, which is not negative and not NaN. */
static double get_error(struct cur *c)
{
	double v = cur_doublele(c);

	c->failed |= !(v >= 0);
	return v;
}

static nsec_t get_time(struct cur *c, nsec_t from)
{
	nsec_t t = get_difference(c, from);

	c->failed |= t > BATCH_TIME_MAX || t < -BATCH_TIME_MAX;
	return c->failed ? 0 : t;
}

static uint8_t get_bits(struct cur *c, uint8_t known)
{
	uint8_t bits = cur_u8(c);

	c->failed |= bits & ~known;
	return bits;
}

static double get_value(struct cur *c, uint8_t bits)
{
	double v = NAN;

	if (bits & TOKEN_INT)
		v = (double)get_zigzag(c);
	if (bits & TOKEN_DOUBLE) {
		v = cur_doublele(c);
		c->failed |= isnan(v) || bits & TOKEN_INT;
	}
	return v;
}

static void get_span(struct cur *c, struct flow_token *t)
{
	t->oldest = get_time(c, 0);
	t->oldest = t->time - t->oldest;
	t->newest = get_time(c, t->time);
}

/* True if the token has a value, or a flag with the reason for a missing value. */
static bool is_fit(const struct flow_token *t, bool partial)
{
	return t->k <= t->n && t->flags <= FLOW_FLAGS_ALL &&
	       (partial || flow_token_has_value(t) || t->flags);
}

static void get_token(struct cur *c, const struct flow_token *before, bool partial,
		      struct flow_token *t)
{
	uint8_t bits = get_bits(c, partial ? TOKEN_BITS & ~(TOKEN_INT | TOKEN_DOUBLE | TOKEN_ERROR)
					   : TOKEN_BITS);

	*t = (struct flow_token){ .k = before->k, .n = before->n, .requester = before->requester };
	t->time = t->oldest = t->newest = get_time(c, before->time);
	t->key = (int64_t)((uint64_t)before->key + 1);
	if (bits & TOKEN_KEY)
		t->key = get_difference(c, before->key);
	t->value = partial ? 0 : get_value(c, bits);
	if (bits & TOKEN_ERROR)
		t->error = get_error(c);
	if (bits & TOKEN_FLAGS)
		t->flags = (uint32_t)get_count(c, FLOW_FLAGS_ALL);
	if (bits & TOKEN_COVERAGE) {
		t->k = (uint32_t)get_count(c, FLOW_BEHIND_MAX);
		t->n = (uint32_t)get_count(c, FLOW_BEHIND_MAX);
	}
	if (bits & TOKEN_SPAN)
		get_span(c, t);
	c->failed |= !is_fit(t, partial);
}

static void get_sketch(struct cur *c, struct sketch *s)
{
	int64_t key = 0;
	uint32_t n;

	sketch_init(s);
	s->level = cur_u8(c);
	s->zeros = cur_varint(c);
	n = (uint32_t)get_count(c, SKETCH_BUCKETS);
	for (uint32_t i = 0; i < n && !c->failed; i++) {
		key = get_difference(c, key);
		c->failed |= key > INT32_MAX || key < INT32_MIN;
		s->key[i] = (int32_t)key;
		s->count[i] = cur_varint(c);
	}
	s->n = c->failed ? 0 : n;
}

static void get_product(struct cur *c, struct agg_product *p)
{
	p->mant = cur_doublele(c);
	p->exp = get_zigzag(c);
}

static struct sum *sum_at(struct agg *a, unsigned i)
{
	struct powers *m = &a->powers;
	struct pairs *p = &a->pairs.of;
	struct sum *const of_powers[] = { &m->mean, &m->m2, &m->m3, &m->m4 };
	struct sum *const of_pairs[AGG_SUMS_MAX] = { &p->x, &p->y, &p->xx, &p->yy, &p->xy };

	if (agg_kind_is_of_pairs(a->kind))
		return of_pairs[i];
	return agg_kind_powers(a->kind) ? of_powers[i] : &a->sum;
}

static void get_sums(struct cur *c, struct agg *a, bool low)
{
	unsigned n = agg_kind_sums(a->kind);

	for (unsigned i = 0; i < n; i++)
		sum_at(a, i)->hi = cur_doublele(c);
	for (unsigned i = 0; low && i < n; i++)
		sum_at(a, i)->lo = cur_doublele(c);
}

static void get_who(struct cur *c, struct who *w)
{
	w->value = cur_doublele(c);
	w->error = cur_doublele(c);
	w->object = cur_u64le(c);
}

static void get_top(struct cur *c, struct who_top *t)
{
	uint32_t n = (uint32_t)get_count(c, WHO_TOP_MAX);

	for (uint32_t i = 0; i < n; i++)
		get_who(c, &t->of[i]);
	t->n = c->failed ? 0 : n;
}

static void get_finite(struct cur *c, struct agg *a, bool low)
{
	if (agg_kind_sums(a->kind))
		return get_sums(c, a, low);
	switch (a->kind) {
	case AGG_MIN:
	case AGG_MAX:
		a->range.min = a->range.max = cur_doublele(c);
		return;
	case AGG_UNIQUE:
		a->range.min = cur_doublele(c);
		a->range.max = cur_doublele(c);
		return;
	case AGG_PROD:
		get_product(c, &a->product.value);
		return get_product(c, &a->product.most);
	case AGG_QUANTILE:
	case AGG_HISTOGRAM:
		return get_sketch(c, a->sketch);
	case AGG_WHO_MAX:
	case AGG_WHO_MIN:
		return get_who(c, &a->who);
	case AGG_TOP:
		return get_top(c, a->top);
	default:
		return;
	}
}

static void get_agg(struct cur *c, enum agg_kind kind, union agg_room *room, struct agg *a)
{
	uint8_t bits = get_bits(c, agg_kind_sums(kind) ? AGG_BITS : AGG_BITS & ~AGG_LOW);

	agg_init(a, kind, room);
	a->n = cur_varint(c);
	if (bits & AGG_INFINITE) {
		a->pinf = (uint32_t)get_count(c, UINT32_MAX);
		a->ninf = (uint32_t)get_count(c, UINT32_MAX);
	}
	if (bits & AGG_ERROR)
		a->error = get_error(c);
	if (bits & AGG_ERROR && agg_kind_is_of_pairs(kind))
		a->pairs.error = get_error(c);
	if (a->n)
		get_finite(c, a, bits & AGG_LOW);
	c->failed |= !agg_is_sane(a);
}

static void get_link(struct cur *c, char *link)
{
	size_t n = get_count(c, NAME_MAX_BYTES);
	const uint8_t *p = cur_bytes(c, n);

	if (c->failed || !str_is_name((const char *)p, n)) {
		c->failed = true;
		return;
	}
	memcpy(link, p, n);
	link[n] = 0;
}

static void get_head(struct cur *c, struct flow_batch_room *room, struct flow_batch *b)
{
	uint8_t bits, agg;

	c->failed |= cur_u8(c) != BATCH_VERSION;
	bits = get_bits(c, BATCH_BITS);
	agg = cur_u8(c);
	c->failed |= agg >= AGG_NKINDS;
	*b = (struct flow_batch){ .domain = bits & BATCH_VT ? FLOW_VT : FLOW_READ,
				  .partial = bits & BATCH_PARTIAL,
				  .agg = (enum agg_kind)agg,
				  .link = room->link };
	b->measurement = (uint32_t)get_count(c, UINT32_MAX);
	b->read = (int64_t)get_count(c, INT64_MAX / 2);
	get_link(c, room->link);
	b->lost = get_count(c, UINT64_MAX / 4);
	b->n = (uint32_t)get_count(c, UINT32_MAX);
	if (!(bits & BATCH_REST))
		return;
	/* A rest has one value. */
	c->failed |= bits != BATCH_REST || b->n != 1;
	b->rest = (uint32_t)get_count(c, FLOW_NODES_MAX);
	b->rest_sum = cur_u64le(c);
	c->failed |= !b->rest;
}

/*
 * Makes room for the tokens. A token has at least two bytes, so the remaining bytes limit their
 * number.
 */
static int make_room(struct flow_batch_room *room, const struct flow_batch *b, size_t left,
		     struct err *e)
{
	bool has_room = b->partial && agg_kind_has_room(b->agg);
	size_t max = has_room ? ROOMS_MAX : FLOW_WINDOW_MAX;

	if (b->n > max || b->n > left / 2)
		return err_set(e, ERR_LIMIT, "a batch of %u tokens in %zu bytes", (unsigned)b->n,
			       left);
	if (array_grow(&room->t, &room->t_cap, b->n, sizeof(*room->t), max) ||
	    (b->partial && array_grow(&room->a, &room->a_cap, b->n, sizeof(*room->a), max)) ||
	    (has_room && array_grow(&room->room, &room->room_cap, b->n, sizeof(*room->room), max)))
		return err_nomem(e);
	return 0;
}

static void get_tokens(struct cur *c, struct flow_batch_room *room, const struct flow_batch *b)
{
	bool has_room = b->partial && agg_kind_has_room(b->agg);
	struct flow_token first = { 0 };

	if (b->domain == FLOW_READ) {
		first.key = b->read - 1;
		first.requester = b->measurement;
	}
	for (uint32_t i = 0; i < b->n && !c->failed; i++) {
		get_token(c, i ? &room->t[i - 1] : &first, b->partial, &room->t[i]);
		if (b->partial)
			get_agg(c, b->agg, has_room ? &room->room[i] : NULL, &room->a[i]);
	}
}

int flow_batch_decode(struct flow_batch_room *room, const void *p, size_t n, struct flow_batch *out,
		      struct err *e)
{
	struct flow_batch b;
	struct cur c;
	int rc;

	cur_init(&c, p, n);
	get_head(&c, room, &b);
	if (c.failed)
		return err_set(e, ERR_PROTO, "a batch with a bad head");
	rc = make_room(room, &b, cur_left(&c), e);
	if (rc)
		return rc;
	get_tokens(&c, room, &b);
	if (!cur_is_done(&c))
		return err_set(e, ERR_PROTO, "batch '%s': bad at byte %zu", room->link, c.at);
	b.t = room->t;
	b.a = b.partial ? room->a : NULL;
	*out = b;
	return 0;
}
