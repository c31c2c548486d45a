/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the value of an aggregate, and its error bound. */
#include "common/flow/graph/agg.h"

#include "stats/interval.h"
#include "stats/student.h"

#include <math.h>

/* Returns the sum if there are infinite values, which then determine it. */
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

/* --- results from powers: if values have errors up to E, deviations have errors up to 2 E */

struct moments agg_moments(const struct agg *a)
{
	return (struct moments){ .n = a->n, .powers = a->powers };
}

/* The error of the deviation is at most that of the values. */
static double stdev(const struct moments *m)
{
	return sqrt(moments_squares(m) / (double)m->n);
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

/* shift: error of M / n, where value = M / n / s^power. */
static double shape_error(const struct moments *m, double value, double error, double shift,
			  int power)
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
	/* mean of |v - mean|^3 */
	double third = s * sqrt(fabs(sum_value(&m->powers.m4)) / (double)m->n);

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
		*error = 0; /* also if the spread is infinite */
	else if (!(*error >= 0))
		*error = INFINITY;
	return v;
}

/*
 * --- results from pairs: errors of deviations are at most those of the values; sums of distances
 * are not stored
 */

static double spread_of(const struct sum *squares, double n)
{
	double v = sum_value(squares);

	return sqrt(v < 0 ? 0 : v / n);
}

/* Returns the error of the sum of products, divided by n. */
static double product_shift(const struct agg *a, double sx, double sy)
{
	return sx * a->pairs.error + sy * a->error + a->error * a->pairs.error;
}

static double correlation_error(const struct agg *a, double r, double sx, double sy)
{
	double size = fabs(sum_value(&a->pairs.of.xy)) / (double)a->n,
	       shift = product_shift(a, sx, sy);
	double low = (sx - a->error) * (sy - a->pairs.error),
	       high = (sx + a->error) * (sy + a->pairs.error);

	if (!(sx > a->error && sy > a->pairs.error))
		return INFINITY;
	/* A correlation is in [-1, 1], which limits its error. */
	return fmin(1 + fabs(r),
		    fmax((size + shift) / low - fabs(r), fabs(r) - (size - shift) / high));
}

static double of_pairs(const struct agg *a, double *error)
{
	const struct pairs *p = &a->pairs.of;
	double n = (double)a->n, sx, sy, v;

	*error = 0;
	if (a->pinf || a->ninf || a->n < 2)
		return NAN;
	sx = spread_of(&p->xx, n);
	sy = spread_of(&p->yy, n);
	v = a->kind == AGG_COVARIANCE ? pairs_covariance(p, a->n) : pairs_correlation(p, a->n);
	if (a->error == 0 && a->pairs.error == 0)
		return v;
	*error = a->kind == AGG_COVARIANCE ? product_shift(a, sx, sy) * n / (n - 1)
					   : correlation_error(a, v, sx, sy);
	if (!(*error >= 0))
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
	if (agg_kind_is_of_pairs(a->kind))
		return of_pairs(a, error);
	if (agg_kind_is_of_objects(a->kind))
		return a->kind == AGG_TOP ? a->top->of[0].value : a->who.value;
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
	       (as == AGG_MEAN ||
		(agg_kind_powers(as) && agg_kind_powers(as) <= agg_kind_powers(of)));
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
