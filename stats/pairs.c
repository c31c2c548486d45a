/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass as in moments.c (Pebay, SAND2008-6212), with products of two distances instead of
 * powers.
 */
#include "stats/pairs.h"

void pairs_add(struct pairs *p, uint64_t n_before, double x, double y)
{
	double before = (double)n_before, n = before + 1, share = before / n;
	double dx = sum_distance(&p->x, x), dy = sum_distance(&p->y, y);

	/* The square of a single value may overflow, and one value has no spread. */
	if (!n_before) {
		p->x = (struct sum){ x, 0 };
		p->y = (struct sum){ y, 0 };
		return;
	}
	sum_add(&p->xx, dx * dx * share);
	sum_add(&p->yy, dy * dy * share);
	sum_add(&p->xy, dx * dy * share);
	sum_add(&p->x, dx / n);
	sum_add(&p->y, dy / n);
}

/* Requires that both have pairs. */
static void merge(struct pairs *p, double na, const struct pairs *from, double nb)
{
	double dx = sum_distance(&p->x, from->x.hi) + from->x.lo;
	double dy = sum_distance(&p->y, from->y.hi) + from->y.lo;
	double share = nb / (na + nb), weight = na * share;

	sum_merge(&p->xx, &from->xx);
	sum_add(&p->xx, dx * dx * weight);
	sum_merge(&p->yy, &from->yy);
	sum_add(&p->yy, dy * dy * weight);
	sum_merge(&p->xy, &from->xy);
	sum_add(&p->xy, dx * dy * weight);
	sum_add(&p->x, dx * share);
	sum_add(&p->y, dy * share);
}

void pairs_merge(struct pairs *p, uint64_t n, const struct pairs *from, uint64_t n_from)
{
	if (!n)
		*p = *from;
	else if (n_from)
		merge(p, (double)n, from, (double)n_from);
}

double pairs_covariance(const struct pairs *p, uint64_t n)
{
	return n < 2 ? NAN : sum_value(&p->xy) / (double)(n - 1);
}

double pairs_correlation(const struct pairs *p, uint64_t n)
{
	double xx = sum_value(&p->xx), yy = sum_value(&p->yy), r;

	if (n < 2 || !(xx > 0 && yy > 0) || isinf(xx) || isinf(yy))
		return NAN;
	r = sum_value(&p->xy) / (sqrt(xx) * sqrt(yy));
	return r < -1 ? -1 : r > 1 ? 1 : r;
}
