/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/batch/batch.h"
#include "common/flow/batch/batch_format.h"

#include <string.h>

static void put_zigzag(struct buf *b, int64_t v)
{
	buf_put_varint(b, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

/* Differences may wrap: the decoder adds them up in the same way. */
static void put_difference(struct buf *b, int64_t v, int64_t from)
{
	put_zigzag(b, (int64_t)((uint64_t)v - (uint64_t)from));
}

static bool is_whole(double v)
{
	return fabs(v) < (double)BATCH_INT_MAX && v == (double)(int64_t)v &&
	       !(v == 0 && signbit(v));
}

static uint8_t token_bits(const struct flow_token *t, const struct flow_token *before, bool partial)
{
	uint8_t bits = 0;

	if (t->key != (int64_t)((uint64_t)before->key + 1))
		bits |= TOKEN_KEY;
	if (!partial && flow_token_has_value(t))
		bits |= is_whole(t->value) ? TOKEN_INT : TOKEN_DOUBLE;
	if (!partial && t->error != 0)
		bits |= TOKEN_ERROR;
	if (t->flags)
		bits |= TOKEN_FLAGS;
	if (t->k != before->k || t->n != before->n)
		bits |= TOKEN_COVERAGE;
	if (t->oldest != t->time || t->newest != t->time)
		bits |= TOKEN_SPAN;
	return bits;
}

static void put_token(struct buf *b, const struct flow_token *t, const struct flow_token *before,
		      bool partial)
{
	uint8_t bits = token_bits(t, before, partial);

	buf_putc(b, bits);
	put_difference(b, t->time, before->time);
	if (bits & TOKEN_KEY)
		put_difference(b, t->key, before->key);
	if (bits & TOKEN_INT)
		put_zigzag(b, (int64_t)t->value);
	if (bits & TOKEN_DOUBLE)
		buf_put_doublele(b, t->value);
	if (bits & TOKEN_ERROR)
		buf_put_doublele(b, t->error);
	if (bits & TOKEN_FLAGS)
		buf_put_varint(b, t->flags);
	if (bits & TOKEN_COVERAGE) {
		buf_put_varint(b, t->k);
		buf_put_varint(b, t->n);
	}
	if (bits & TOKEN_SPAN) {
		put_difference(b, t->time, t->oldest);
		put_difference(b, t->newest, t->time);
	}
}

static void put_sketch(struct buf *b, const struct sketch *s)
{
	int32_t before = 0;

	buf_putc(b, (uint8_t)s->level);
	buf_put_varint(b, s->zeros);
	buf_put_varint(b, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		put_zigzag(b, (int64_t)s->key[i] - before);
		buf_put_varint(b, s->count[i]);
		before = s->key[i];
	}
}

static void put_product(struct buf *b, const struct agg_product *p)
{
	buf_put_doublele(b, p->mant);
	put_zigzag(b, p->exp);
}

/* Returns sum i in the order of the encoding. */
static const struct sum *sum_at(const struct agg *a, unsigned i)
{
	const struct powers *m = &a->powers;
	const struct pairs *p = &a->pairs.of;
	const struct sum *const of_powers[] = { &m->mean, &m->m2, &m->m3, &m->m4 };
	const struct sum *const of_pairs[AGG_SUMS_MAX] = { &p->x, &p->y, &p->xx, &p->yy, &p->xy };

	if (agg_kind_is_of_pairs(a->kind))
		return of_pairs[i];
	return agg_kind_powers(a->kind) ? of_powers[i] : &a->sum;
}

static void put_sums(struct buf *b, const struct agg *a, bool low)
{
	unsigned n = agg_kind_sums(a->kind);

	for (unsigned i = 0; i < n; i++)
		buf_put_doublele(b, sum_at(a, i)->hi);
	for (unsigned i = 0; low && i < n; i++)
		buf_put_doublele(b, sum_at(a, i)->lo);
}

static void put_who(struct buf *b, const struct who *w)
{
	buf_put_doublele(b, w->value);
	buf_put_doublele(b, w->error);
	buf_put_u64le(b, w->object);
}

static void put_top(struct buf *b, const struct who_top *t)
{
	buf_put_varint(b, t->n);
	for (uint32_t i = 0; i < t->n; i++)
		put_who(b, &t->of[i]);
}

static void put_finite(struct buf *b, const struct agg *a, bool low)
{
	if (agg_kind_sums(a->kind))
		return put_sums(b, a, low);
	switch (a->kind) {
	case AGG_MIN:
		buf_put_doublele(b, a->range.min);
		break;
	case AGG_MAX:
		buf_put_doublele(b, a->range.max);
		break;
	case AGG_UNIQUE:
		buf_put_doublele(b, a->range.min);
		buf_put_doublele(b, a->range.max);
		break;
	case AGG_PROD:
		put_product(b, &a->product.value);
		put_product(b, &a->product.most);
		break;
	case AGG_QUANTILE:
	case AGG_HISTOGRAM:
		put_sketch(b, a->sketch);
		break;
	case AGG_WHO_MAX:
	case AGG_WHO_MIN:
		put_who(b, &a->who);
		break;
	case AGG_TOP:
		put_top(b, a->top);
		break;
	default:
		break;
	}
}

static bool has_low(const struct agg *a)
{
	for (unsigned i = 0; i < agg_kind_sums(a->kind); i++)
		if (sum_at(a, i)->lo != 0)
			return true;
	return false;
}

/* Without a finite value, only the counts are encoded: all else is as after agg_clear(). */
static void put_agg(struct buf *b, const struct agg *a)
{
	uint8_t bits = 0;

	if (a->pinf || a->ninf)
		bits |= AGG_INFINITE;
	if (a->error != 0 || (agg_kind_is_of_pairs(a->kind) && a->pairs.error != 0))
		bits |= AGG_ERROR;
	if (has_low(a))
		bits |= AGG_LOW;
	buf_putc(b, bits);
	buf_put_varint(b, a->n);
	if (bits & AGG_INFINITE) {
		buf_put_varint(b, a->pinf);
		buf_put_varint(b, a->ninf);
	}
	if (bits & AGG_ERROR)
		buf_put_doublele(b, a->error);
	if (bits & AGG_ERROR && agg_kind_is_of_pairs(a->kind))
		buf_put_doublele(b, a->pairs.error);
	if (a->n)
		put_finite(b, a, bits & AGG_LOW);
}

void flow_batch_encode(struct buf *b, const struct flow_batch *batch)
{
	struct flow_token first = { 0 };

	buf_putc(b, BATCH_VERSION);
	buf_putc(b, (batch->domain == FLOW_VT ? BATCH_VT : 0) |
			    (batch->partial ? BATCH_PARTIAL : 0) | (batch->rest ? BATCH_REST : 0));
	buf_putc(b, (uint8_t)batch->agg);
	buf_put_varint(b, batch->measurement);
	buf_put_varint(b, (uint64_t)batch->read);
	buf_put_varint(b, strlen(batch->link));
	buf_puts(b, batch->link);
	buf_put_varint(b, batch->lost);
	buf_put_varint(b, batch->n);
	if (batch->rest) {
		buf_put_varint(b, batch->rest);
		buf_put_u64le(b, batch->rest_sum);
	}
	first.key = batch->domain == FLOW_VT ? 0 : batch->read - 1;
	for (uint32_t i = 0; i < batch->n; i++) {
		put_token(b, &batch->t[i], i ? &batch->t[i - 1] : &first, batch->partial);
		if (batch->partial)
			put_agg(b, &batch->a[i]);
	}
}
