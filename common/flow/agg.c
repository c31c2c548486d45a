/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/agg.h"

#include <math.h>

#define COUNT_MAX (UINT64_MAX / 4) /* of a sane aggregate: sums of some cannot overflow */

static const struct agg_product one = { 0.5, 1 };

void agg_init(struct agg *a, enum agg_kind kind, struct sketch *sketch)
{
	*a = (struct agg){ .kind = kind };
	if (agg_kind_has_sketch(kind))
		a->sketch = sketch;
	agg_clear(a);
}

void agg_clear(struct agg *a)
{
	a->pinf = a->ninf = 0;
	a->n = 0;
	a->error = 0;
	if (a->kind == AGG_MIN || a->kind == AGG_MAX || a->kind == AGG_UNIQUE) {
		a->range.min = INFINITY;
		a->range.max = -INFINITY;
	} else if (a->kind == AGG_PROD) {
		a->product.value = a->product.most = one;
	} else if (agg_kind_has_sketch(a->kind)) {
		sketch_init(a->sketch);
	} else if (a->kind == AGG_STDEV) {
		a->moments.mean = a->moments.m2 = (struct sum){ 0 };
	} else {
		a->sum.hi = a->sum.lo = 0;
	}
}

static void product_times(struct agg_product *p, double mant, int64_t exp)
{
	int shift;

	p->mant = frexp(p->mant * mant, &shift);
	p->exp = p->mant == 0 ? 0 : p->exp + exp + shift;
}

/* A bound that is no number any more stays in a->error. */
static void product_add(struct agg *a, double v, double error)
{
	double most = fabs(v) + error;

	if (!isfinite(most)) {
		a->error = INFINITY;
		most = fabs(v);
	}
	product_times(&a->product.value, v, 0);
	product_times(&a->product.most, most, 0);
}

static double from_mean(double v, const struct sum *mean)
{
	return (v - mean->hi) - mean->lo;
}

static void moments_add(struct agg *a, double v)
{
	double n = (double)a->n, delta = from_mean(v, &a->moments.mean);

	sum_add(&a->moments.m2, delta * delta * ((n - 1) / n));
	sum_add(&a->moments.mean, delta / n);
}

static void note_error(struct agg *a, double error)
{
	if (a->kind == AGG_SUM || a->kind == AGG_MEAN)
		a->error += error;
	else if (error > a->error)
		a->error = error;
}

static void add_finite(struct agg *a, double v, double error)
{
	a->n++;
	switch (a->kind) {
	case AGG_SUM:
	case AGG_MEAN:
		return sum_add(&a->sum, v);
	case AGG_MIN:
	case AGG_MAX:
	case AGG_UNIQUE:
		a->range.min = v < a->range.min ? v : a->range.min;
		a->range.max = v > a->range.max ? v : a->range.max;
		return;
	case AGG_PROD:
		return product_add(a, v, error);
	case AGG_STDEV:
		return moments_add(a, v);
	case AGG_QUANTILE:
	case AGG_HISTOGRAM:
		return sketch_add(a->sketch, v);
	case AGG_COUNT:
	case AGG_NKINDS:
		return;
	}
}

void agg_add(struct agg *a, double v, double error)
{
	if (isnan(v))
		return;
	note_error(a, error);
	if (isfinite(v))
		add_finite(a, v, error);
	else if (v > 0)
		a->pinf++;
	else
		a->ninf++;
}

/* Chan et al.: mean and M2 of both from those of each. */
static void moments_merge(struct agg *a, const struct agg *b)
{
	double na = (double)a->n, nb = (double)b->n, n = na + nb, delta;

	if (!b->n)
		return;
	if (!a->n) {
		a->moments = b->moments;
		return;
	}
	delta = from_mean(b->moments.mean.hi, &a->moments.mean) + b->moments.mean.lo;
	sum_merge(&a->moments.m2, &b->moments.m2);
	sum_add(&a->moments.m2, delta * delta * (na * (nb / n)));
	sum_add(&a->moments.mean, delta * (nb / n));
}

static void merge_finite(struct agg *a, const struct agg *b)
{
	switch (a->kind) {
	case AGG_SUM:
	case AGG_MEAN:
		return sum_merge(&a->sum, &b->sum);
	case AGG_MIN:
	case AGG_MAX:
	case AGG_UNIQUE:
		a->range.min = fmin(a->range.min, b->range.min);
		a->range.max = fmax(a->range.max, b->range.max);
		return;
	case AGG_PROD:
		product_times(&a->product.value, b->product.value.mant, b->product.value.exp);
		product_times(&a->product.most, b->product.most.mant, b->product.most.exp);
		return;
	case AGG_STDEV:
		return moments_merge(a, b);
	case AGG_QUANTILE:
	case AGG_HISTOGRAM:
		return sketch_merge(a->sketch, b->sketch);
	case AGG_COUNT:
	case AGG_NKINDS:
		return;
	}
}

void agg_merge(struct agg *a, const struct agg *b)
{
	note_error(a, b->error);
	merge_finite(a, b);
	a->n += b->n;
	a->pinf += b->pinf;
	a->ninf += b->ninf;
}

void agg_copy(struct agg *a, const struct agg *b)
{
	struct sketch *own = agg_kind_has_sketch(a->kind) ? a->sketch : NULL;

	*a = *b;
	if (!own)
		return;
	a->sketch = own;
	sketch_copy(own, b->sketch);
}

uint64_t agg_count(const struct agg *a)
{
	return a->n + a->pinf + a->ninf;
}

/* With infinities in it: they decide. */
static double infinite_sum(const struct agg *a)
{
	if (a->pinf && a->ninf)
		return NAN;
	return a->pinf ? INFINITY : -INFINITY;
}

static double whole_sum(const struct agg *a)
{
	return a->pinf || a->ninf ? infinite_sum(a) : sum_value(&a->sum);
}

static double product_number(const struct agg_product *p)
{
	int exp = p->exp > 5000 ? 5000 : p->exp < -5000 ? -5000 : (int)p->exp;

	return ldexp(p->mant, exp);
}

static double product_value(const struct agg *a, double *error)
{
	double v = product_number(&a->product.value);

	*error = product_number(&a->product.most) - fabs(v);
	if (isnan(*error) || isinf(a->error))
		*error = INFINITY;
	if (!a->pinf && !a->ninf)
		return v;
	return a->product.value.mant * (a->ninf % 2 ? -INFINITY : INFINITY);
}

static double least(const struct agg *a)
{
	return a->ninf ? -INFINITY : a->n ? a->range.min : INFINITY;
}

static double greatest(const struct agg *a)
{
	return a->pinf ? INFINITY : a->n ? a->range.max : -INFINITY;
}

static double unique_value(const struct agg *a, double *error)
{
	if (least(a) < greatest(a))
		*error += greatest(a) - least(a);
	return least(a);
}

static double quantile(const struct agg *a, double q, double *error)
{
	uint64_t all = agg_count(a);
	double rank = floor(q * (double)(all - 1) + 0.5), width, v;

	if (rank < a->ninf)
		return -INFINITY;
	if (rank >= (double)(a->ninf + a->n))
		return INFINITY;
	v = sketch_at(a->sketch, (uint64_t)rank - a->ninf, &width);
	*error += width;
	return v;
}

static double stdev(const struct agg *a)
{
	if (a->pinf || a->ninf)
		return NAN;
	return sqrt(sum_value(&a->moments.m2) > 0 ? sum_value(&a->moments.m2) / (double)a->n : 0);
}

double agg_value(const struct agg *a, double q, double *error)
{
	uint64_t all = agg_count(a);

	*error = a->error;
	switch (a->kind) {
	case AGG_COUNT:
	case AGG_HISTOGRAM:
		*error = 0;
		return (double)all;
	case AGG_SUM:
		return whole_sum(a);
	case AGG_PROD:
		return product_value(a, error);
	default:
		break;
	}
	if (!all)
		return NAN;
	switch (a->kind) {
	case AGG_MEAN:
		*error /= (double)all;
		return whole_sum(a) / (double)all;
	case AGG_STDEV:
		return stdev(a);
	case AGG_MIN:
		return least(a);
	case AGG_MAX:
		return greatest(a);
	case AGG_UNIQUE:
		return unique_value(a, error);
	default:
		return quantile(a, q, error);
	}
}

static bool product_is_sane(const struct agg_product *p)
{
	double size = fabs(p->mant);

	return (size == 0 && p->exp == 0) ||
	       (size >= 0.5 && size < 1 && p->exp > -(INT64_C(1) << 61) &&
		p->exp < INT64_C(1) << 61);
}

static bool range_is_sane(const struct agg *a)
{
	if (!a->n)
		return a->range.min == INFINITY && a->range.max == -INFINITY;
	return isfinite(a->range.min) && isfinite(a->range.max) && a->range.min <= a->range.max;
}

bool agg_is_sane(const struct agg *a)
{
	if (!(a->error >= 0) || a->n > COUNT_MAX)
		return false;
	switch (a->kind) {
	case AGG_COUNT:
		return true;
	case AGG_SUM:
	case AGG_MEAN:
		return isfinite(a->sum.lo);
	case AGG_STDEV:
		return !(a->moments.m2.hi < 0) && isfinite(a->moments.mean.lo) && isfinite(a->moments.m2.lo);
	case AGG_MIN:
	case AGG_MAX:
	case AGG_UNIQUE:
		return range_is_sane(a);
	case AGG_PROD:
		return product_is_sane(&a->product.value) && product_is_sane(&a->product.most);
	case AGG_QUANTILE:
	case AGG_HISTOGRAM:
		return sketch_is_sane(a->sketch) && sketch_total(a->sketch) == a->n;
	case AGG_NKINDS:
		return false;
	}
	return false;
}
