/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/batches.h"

#define BATCHES_FEW (BATCHES_MAX / 2)

/* A last batch without a partner is dropped. It exists only when batches of two are merged. */
static void join_pairs(struct batches *b)
{
	b->n /= 2;
	for (unsigned i = 0; i < b->n; i++)
		b->mean[i] = (b->mean[2 * i] + b->mean[2 * i + 1]) / 2;
	b->size *= 2;
}

/* Joins batches until they have this size; the open batch still has the former size. */
static void join_up_to(struct batches *b, uint64_t size)
{
	if (b->size < size) {
		b->open = (struct sum){ 0, 0 };
		b->nopen = 0;
	}
	while (b->size < size)
		join_pairs(b);
}

void batches_merge(struct batches *b, const struct batches *from)
{
	struct batches add = *from;

	if (!from->size)
		return;
	if (!b->size) {
		*b = *from;
		return;
	}
	join_up_to(b, add.size);
	join_up_to(&add, b->size);
	while (b->n + add.n >= BATCHES_MAX) {
		join_up_to(b, b->size * 2);
		join_up_to(&add, add.size * 2);
	}
	for (unsigned i = 0; i < add.n; i++)
		b->mean[b->n++] = add.mean[i] + (add.origin - b->origin);
}

void batches_add(struct batches *b, double v)
{
	if (!b->size) {
		b->size = 1;
		b->origin = v;
	}
	sum_add(&b->open, v - b->origin);
	if (++b->nopen < b->size)
		return;
	b->mean[b->n++] = sum_value(&b->open) / (double)b->size;
	b->open = (struct sum){ 0, 0 };
	b->nopen = 0;
	if (b->n == BATCHES_MAX)
		join_pairs(b);
}

void batches_moments(const struct batches *b, struct moments *out)
{
	*out = (struct moments){ 0 };
	for (unsigned i = 0; i < b->n; i++)
		moments_add(out, b->mean[i]);
	sum_add(&out->powers.mean, b->origin);
	out->min += b->origin;
	out->max += b->origin;
	out->first += b->origin;
	out->last += b->origin;
}

bool batches_are_independent(const struct batches *b)
{
	struct moments m;

	if (b->n < BATCHES_FEW)
		return false;
	batches_moments(b, &m);
	return !serial_is_beyond_chance(moments_serial(&m), b->n);
}

double batches_inflation(const struct batches *b, const struct moments *values)
{
	struct moments m;

	if (b->n < BATCHES_FEW)
		return NAN;
	batches_moments(b, &m);
	return (double)b->size * moments_variance(&m) / moments_variance(values);
}

bool batches_are_long(const struct batches *b, const struct moments *values)
{
	return (double)b->size >= BATCHES_LENGTH_MIN * batches_inflation(b, values);
}
