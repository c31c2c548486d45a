/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dual is: greatest b y with A'y <= c, y >= 0. Its table
 * has the columns y, then one slack for each unknown, then c. The last row holds reduced costs:
 * those of the slacks are x. The first goal is solved by the simplex method. A further one changes
 * the last column alone, so that the dual simplex method applies.
 */
#include "model/algebra/programme.h"

#include "common/base/array.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9 /* of an element to divide by, with columns of about the size 1 */
#define COST_ROUNDING 1e-13 /* of a condition */
#define STEPS_MAX 20000 /* a few times the unknowns are usual */

struct programme {
	size_t k, n, wide; /* wide: n + k + 1 */
	double *t; /* k + 1 rows */
	size_t *base; /* column in each row */
	bool is_solved;
};

void programme_free(struct programme *p)
{
	if (!p)
		return;
	free(p->t);
	free(p->base);
	free(p);
}

static double *row(const struct programme *p, size_t i)
{
	return p->t + i * p->wide;
}

static void fill(struct programme *p, const double *a, const double *b)
{
	for (size_t i = 0; i < p->k; i++) {
		for (size_t j = 0; j < p->n; j++)
			row(p, i)[j] = a[j * p->k + i];
		row(p, i)[p->n + i] = 1;
		p->base[i] = p->n + i;
	}
	for (size_t j = 0; j < p->n; j++)
		row(p, p->k)[j] = -b[j];
}

int programme_new(size_t k, size_t n, const double *a, const double *b, struct programme **out)
{
	struct programme *p;

	if (k > PROGRAMME_UNKNOWNS_MAX || n > PROGRAMME_CONDITIONS_MAX)
		return -ERR_LIMIT;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ERR_NOMEM;
	p->k = k;
	p->n = n;
	p->wide = n + k + 1;
	p->t = calloc((k + 1) * p->wide, sizeof(*p->t));
	p->base = calloc(k + 1, sizeof(*p->base));
	if (!p->t || !p->base) {
		programme_free(p);
		return -ERR_NOMEM;
	}
	fill(p, a, b);
	*out = p;
	return 0;
}

static void pivot(struct programme *p, size_t i, size_t j)
{
	double *r = row(p, i), inverse = 1 / r[j];

	for (size_t h = 0; h < p->wide; h++)
		r[h] *= inverse;
	r[j] = 1;
	for (size_t g = 0; g <= p->k; g++) {
		double *o = row(p, g), f = o[j];

		if (g == i || !(fabs(f) > 0))
			continue;
		for (size_t h = 0; h < p->wide; h++)
			o[h] -= f * r[h];
		o[j] = 0;
	}
	p->base[i] = j;
}

/* The column with the least reduced cost; late, the first below 0 (Bland), which cannot cycle. */
static size_t entering(const struct programme *p, bool is_late)
{
	const double *z = row(p, p->k);
	size_t best = p->wide;

	for (size_t j = 0; j + 1 < p->wide; j++) {
		if (z[j] >= -COST_ROUNDING || (best < p->wide && z[j] >= z[best]))
			continue;
		best = j;
		if (is_late)
			break;
	}
	return best;
}

static size_t leaving(const struct programme *p, size_t j)
{
	size_t best = p->k;
	double least = INFINITY;

	for (size_t i = 0; i < p->k; i++) {
		double v = row(p, i)[j], ratio = row(p, i)[p->wide - 1] / v;

		if (v > ROUNDING && (ratio < least || (ratio <= least && best < p->k &&
						       p->base[i] < p->base[best]))) {
			least = ratio;
			best = i;
		}
	}
	return best;
}

static int solve_first(struct programme *p)
{
	for (unsigned n = 0; n < STEPS_MAX; n++) {
		size_t j = entering(p, n > STEPS_MAX / 2), i;

		if (j == p->wide)
			return 0;
		i = leaving(p, j);
		if (i == p->k)
			return -ERR_INVALID;
		pivot(p, i, j);
	}
	return -ERR_LIMIT;
}

/* The dual simplex method: rows with a negative last column leave. */
static int solve_again(struct programme *p)
{
	for (unsigned n = 0; n < STEPS_MAX; n++) {
		size_t i = p->k, j = p->wide;
		double most = -ROUNDING, least = INFINITY;

		for (size_t g = 0; g < p->k; g++)
			if (row(p, g)[p->wide - 1] < most) {
				most = row(p, g)[p->wide - 1];
				i = g;
			}
		if (i == p->k)
			return 0;
		for (size_t h = 0; h + 1 < p->wide; h++) {
			double v = row(p, i)[h], cost = fmax(row(p, p->k)[h], 0);

			if (v < -ROUNDING && cost / -v < least) {
				least = cost / -v;
				j = h;
			}
		}
		if (j == p->wide)
			return -ERR_NOTFOUND;
		pivot(p, i, j);
	}
	return -ERR_LIMIT;
}

/* The last column is the inverse of the base, which the slacks hold, times c. */
static void set_goal(struct programme *p, const double *c)
{
	for (size_t i = 0; i <= p->k; i++) {
		double v = 0;

		for (size_t j = 0; j < p->k; j++)
			v += row(p, i)[p->n + j] * c[j];
		row(p, i)[p->wide - 1] = v;
	}
}

int programme_minimise(struct programme *p, const double *c, double *x)
{
	int rc;

	set_goal(p, c);
	rc = p->is_solved ? solve_again(p) : solve_first(p);
	if (rc)
		return rc;
	p->is_solved = true;
	for (size_t j = 0; j < p->k; j++)
		x[j] = row(p, p->k)[p->n + j];
	return 0;
}
