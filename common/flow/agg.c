/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/agg.h"

#include "stats/interval.h"
#include "stats/student.h"

#include <math.h>

#define COUNT_MAX (UINT64_MAX / 4) /* of a sane aggregate: sums of some cannot overflow */

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

bool agg_share_is_fit(enum agg_kind kind, double q)
{
	if (kind == AGG_CI)
		return !isnan(normal_two_sided(q));
	return kind != AGG_QUANTILE || (q >= 0 && q <= 1);
}

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
	} else if (agg_kind_powers(a->kind)) {
		a->powers = (struct powers){ 0 };
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

static void merge_finite(struct agg *a, const struct agg *b)
{
	if (agg_kind_powers(a->kind))
		return powers_merge(&a->powers, a->n, &b->powers, b->n);
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

/* --- of the powers: a bound for values that may each be off by E, so that deviations are by 2 E at the most */

struct moments agg_moments(const struct agg *a)
{
	return (struct moments){ .n = a->n, .powers = a->powers };
}

/* The deviation moves by no more than the values do. */
static double stdev(const struct moments *m)
{
	double m2 = sum_value(&m->powers.m2);

	return sqrt(m2 < 0 ? 0 : m2 / (double)m->n);
}

static double variance(const struct moments *m, double *error)
{
	double n = (double)m->n;

	*error *= n / (n - 1) * (2 * stdev(m) + *error);
	return moments_variance(m);
}

static double half_width(const struct moments *m, double level, double *error)
{
	struct interval i = interval_of_mean(m, level);

	*error *= student_two_sided(level, i.df) / sqrt(i.df);
	return i.half;
}

/* shift: how far M / n may be off, where is value = M / n / s^power. */
static double shape_error(const struct moments *m, double value, double error, double shift, int power)
{
	double n = (double)m->n, s = moments_deviation(m), off = error * sqrt(n / (n - 1)), size;

	if (!(s > off))
		return INFINITY;
	size = fabs(value) * pow(s, power);
	return fmax((size + shift) / pow(s - off, power) - fabs(value),
		    fabs(value) - (size - shift) / pow(s + off, power));
}

static double skewness(const struct moments *m, double *error)
{
	double v = moments_skewness(m), e = *error, s = stdev(m);

	*error = shape_error(m, v, e, ((6 * s) * s + (12 * s + 8 * e) * e) * e, 3);
	return v;
}

static double kurtosis(const struct moments *m, double *error)
{
	double v = moments_kurtosis(m), e = *error, s = stdev(m);
	double third = s * sqrt(fabs(sum_value(&m->powers.m4)) / (double)m->n); /* of |v - mean|^3 */

	*error = shape_error(m, v + 3, e,
			     (8 * third + (24 * s * s + (32 * s + 16 * e) * e) * e) * e, 4);
	return v;
}

static double of_two_and_more(const struct moments *m, const struct agg *a, double q, double *error)
{
	switch (a->kind) {
	case AGG_VARIANCE:
		return variance(m, error);
	case AGG_SKEWNESS:
		return skewness(m, error);
	case AGG_KURTOSIS:
		return kurtosis(m, error);
	default:
		return half_width(m, q, error);
	}
}

static double of_powers(const struct agg *a, double q, double *error)
{
	struct moments m = agg_moments(a);
	double v;

	if (a->pinf || a->ninf)
		return NAN;
	if (a->kind == AGG_STDEV)
		return stdev(&m);
	if (a->n < 2)
		return NAN;
	v = of_two_and_more(&m, a, q, error);
	if (a->error == 0)
		*error = 0; /* also of a spread that is infinite */
	else if (!(*error >= 0))
		*error = INFINITY;
	return v;
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
	if (agg_kind_powers(a->kind))
		return of_powers(a, q, error);
	switch (a->kind) {
	case AGG_MEAN:
		*error /= (double)all;
		return whole_sum(a) / (double)all;
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

bool agg_gives(enum agg_kind of, enum agg_kind as)
{
	return agg_kind_powers(of) >= 2 &&
	       (as == AGG_MEAN || (agg_kind_powers(as) && agg_kind_powers(as) <= agg_kind_powers(of)));
}

double agg_value_as(const struct agg *a, enum agg_kind as, double q, double *error)
{
	struct agg other = *a;
	struct moments m = agg_moments(a);

	other.kind = as;
	if (as != AGG_MEAN)
		return agg_value(&other, q, error);
	*error = a->error;
	return a->pinf || a->ninf ? infinite_sum(a) : moments_mean(&m);
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
	return !(p->m2.hi < 0) && isfinite(p->mean.lo) && isfinite(p->m2.lo) && isfinite(p->m3.lo) &&
	       isfinite(p->m4.lo);
}

bool agg_is_sane(const struct agg *a)
{
	if (!(a->error >= 0) || a->n > COUNT_MAX)
		return false;
	if (agg_kind_powers(a->kind))
		return powers_are_sane(&a->powers);
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
