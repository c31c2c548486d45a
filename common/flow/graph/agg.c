/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/graph/agg.h"

#include "stats/student.h"

#include <math.h>

/* limit of the counts of a valid aggregate, so that sums of some do not overflow */
#define COUNT_MAX (UINT64_MAX / 4)

static const struct agg_product one = { 0.5, 1 };

unsigned agg_kind_powers(enum agg_kind kind)
{
	switch (kind) {
	case AGG_STDEV:
	case AGG_VARIANCE:
	case AGG_CI:
		return 2;
	case AGG_SKEWNESS:
		return 3;
	case AGG_KURTOSIS:
		return 4;
	default:
		return 0;
	}
}

unsigned agg_kind_sums(enum agg_kind kind)
{
	if (kind == AGG_SUM || kind == AGG_MEAN)
		return 1;
	return agg_kind_is_of_pairs(kind) ? AGG_SUMS_MAX : agg_kind_powers(kind);
}

bool agg_share_is_fit(enum agg_kind kind, double q)
{
	if (kind == AGG_CI)
		return !isnan(normal_two_sided(q));
	if (kind == AGG_TOP)
		return q >= 1 && q <= WHO_TOP_MAX && q == floor(q);
	return kind != AGG_QUANTILE || (q >= 0 && q <= 1);
}

void agg_init(struct agg *a, enum agg_kind kind, void *room)
{
	*a = (struct agg){ .kind = kind };
	if (agg_kind_has_sketch(kind))
		a->sketch = room;
	else if (kind == AGG_TOP)
		a->top = room;
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
	} else if (agg_kind_powers(a->kind)) {
		a->powers = (struct powers){ 0 };
	} else if (agg_kind_is_of_pairs(a->kind)) {
		a->pairs.of = (struct pairs){ 0 };
		a->pairs.error = 0;
	} else if (a->kind == AGG_TOP) {
		a->top->n = 0;
	} else if (agg_kind_is_of_objects(a->kind)) {
		a->who = (struct who){ 0 };
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

/* A bound that is not finite is stored in a->error. */
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
	if (agg_kind_powers(a->kind))
		return powers_add(&a->powers, a->n - 1, v);
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
	case AGG_QUANTILE:
	case AGG_HISTOGRAM:
		return sketch_add(a->sketch, v);
	default:
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

static void note_pair_error(struct agg *a, double error)
{
	if (error > a->pairs.error)
		a->pairs.error = error;
}

void agg_add_pair(struct agg *a, double x, double x_error, double y, double y_error)
{
	double most = fabs(x) > fabs(y) ? x : y;

	if (isnan(x) || isnan(y))
		return;
	note_error(a, x_error);
	note_pair_error(a, y_error);
	if (isfinite(most))
		pairs_add(&a->pairs.of, a->n++, x, y);
	else if (most > 0)
		a->pinf++;
	else
		a->ninf++;
}

/* has: the aggregate has a value already. */
static void take_who(struct agg *a, const struct who *w, bool has)
{
	if (!has || who_is_before(w, &a->who, a->kind == AGG_WHO_MIN))
		a->who = *w;
}

void agg_add_who(struct agg *a, const struct who *w)
{
	if (isnan(w->value))
		return;
	note_error(a, w->error);
	if (a->kind == AGG_TOP)
		who_top_add(a->top, w);
	else
		take_who(a, w, a->n > 0);
	a->n++;
}

const struct who *agg_whos(const struct agg *a, double q, uint32_t *n)
{
	if (a->kind != AGG_TOP) {
		*n = a->n > 0;
		return &a->who;
	}
	*n = q < a->top->n ? (uint32_t)q : a->top->n;
	return a->top->of;
}

static void merge_whos(struct agg *a, const struct agg *b)
{
	if (a->kind == AGG_TOP)
		who_top_merge(a->top, b->top);
	else if (b->n)
		take_who(a, &b->who, a->n > 0);
}

static void merge_pairs(struct agg *a, const struct agg *b)
{
	note_pair_error(a, b->pairs.error);
	pairs_merge(&a->pairs.of, a->n, &b->pairs.of, b->n);
}

static void merge_finite(struct agg *a, const struct agg *b)
{
	if (agg_kind_powers(a->kind))
		return powers_merge(&a->powers, a->n, &b->powers, b->n);
	if (agg_kind_is_of_pairs(a->kind))
		return merge_pairs(a, b);
	if (agg_kind_is_of_objects(a->kind))
		return merge_whos(a, b);
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
	case AGG_QUANTILE:
	case AGG_HISTOGRAM:
		return sketch_merge(a->sketch, b->sketch);
	default:
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
	struct agg own = *a;

	*a = *b;
	if (agg_kind_has_sketch(own.kind)) {
		a->sketch = own.sketch;
		sketch_copy(a->sketch, b->sketch);
	} else if (own.kind == AGG_TOP) {
		a->top = own.top;
		*a->top = *b->top;
	}
}

uint64_t agg_count(const struct agg *a)
{
	return a->n + a->pinf + a->ninf;
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

static bool powers_are_sane(const struct powers *p)
{
	return !(p->m2.hi < 0) && isfinite(p->mean.lo) && isfinite(p->m2.lo) &&
	       isfinite(p->m3.lo) && isfinite(p->m4.lo);
}

static bool pairs_are_sane(const struct agg *a)
{
	const struct pairs *p = &a->pairs.of;

	return a->pairs.error >= 0 && !(p->xx.hi < 0) && !(p->yy.hi < 0) && isfinite(p->x.lo) &&
	       isfinite(p->y.lo) && isfinite(p->xx.lo) && isfinite(p->yy.lo) && isfinite(p->xy.lo);
}

static bool whos_are_sane(const struct agg *a)
{
	if (a->pinf || a->ninf)
		return false;
	if (a->kind == AGG_TOP)
		return who_top_is_sane(a->top, a->n);
	return !a->n || who_is_sane(&a->who);
}

bool agg_is_sane(const struct agg *a)
{
	if (!(a->error >= 0) || a->n > COUNT_MAX)
		return false;
	if (agg_kind_is_of_pairs(a->kind))
		return pairs_are_sane(a);
	if (agg_kind_powers(a->kind))
		return powers_are_sane(&a->powers);
	if (agg_kind_is_of_objects(a->kind))
		return whos_are_sane(a);
	switch (a->kind) {
	case AGG_COUNT:
		return true;
	case AGG_SUM:
	case AGG_MEAN:
		return isfinite(a->sum.lo);
	case AGG_MIN:
	case AGG_MAX:
	case AGG_UNIQUE:
		return range_is_sane(a);
	case AGG_PROD:
		return product_is_sane(&a->product.value) && product_is_sane(&a->product.most);
	case AGG_QUANTILE:
	case AGG_HISTOGRAM:
		return sketch_is_sane(a->sketch) && sketch_total(a->sketch) == a->n;
	default:
		return false;
	}
}
