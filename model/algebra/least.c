/* SPDX-License-Identifier: Apache-2.0 */
#include "model/algebra/least.h"

#include "common/base/err.h"

#include <math.h>
#include <string.h>

#define RANK_DIGITS 1e-12 /* a smaller part of a column is rounding */
#define JACOBI_SWEEPS 60 /* some ten are usual */

void least_init(struct least *l, size_t k)
{
	l->k = k;
	for (size_t i = 0; i <= k; i++)
		memset(l->r[i], 0, (k + 1) * sizeof(l->r[i][0]));
}

/* Rotates row i of the triangle with `row`, so that row[i] becomes 0. */
static void rotate(struct least *l, size_t i, double *row)
{
	double *r = l->r[i], h = hypot(r[i], row[i]), c = r[i] / h, s = row[i] / h;

	for (size_t j = i; j <= l->k; j++) {
		double a = r[j], b = row[j];

		r[j] = c * a + s * b;
		row[j] = c * b - s * a;
	}
}

void least_add(struct least *l, const double *row, double y)
{
	double w[LEAST_WIDE];

	memcpy(w, row, l->k * sizeof(*w));
	w[l->k] = y;
	for (size_t i = 0; i <= l->k; i++)
		if (fabs(w[i]) > 0)
			rotate(l, i, w);
}

static double column_length(const struct least *l, size_t j)
{
	double length = 0;

	for (size_t i = 0; i <= j; i++)
		length = hypot(length, l->r[i][j]);
	return length;
}

int least_solve(const struct least *l, double *x)
{
	for (size_t i = 0; i < l->k; i++)
		if (!(fabs(l->r[i][i]) > RANK_DIGITS * column_length(l, i)))
			return -ERR_INVALID;
	for (size_t i = l->k; i-- > 0;) {
		double v = l->r[i][l->k];

		for (size_t j = i + 1; j < l->k; j++)
			v -= l->r[i][j] * x[j];
		x[i] = v / l->r[i][i];
	}
	return 0;
}

double least_squares(const struct least *l)
{
	return l->r[l->k][l->k] * l->r[l->k][l->k];
}

/* (A'A)^-1 is W W' for the inverse W of the triangle; row i of W is solved for from W R = 1. */
void least_errors(const struct least *l, double *out)
{
	double w[LEAST_COLUMNS_MAX];

	for (size_t i = 0; i < l->k; i++) {
		double sum = 0;

		for (size_t j = i; j < l->k; j++) {
			double v = i == j;

			for (size_t h = i; h < j; h++)
				v -= w[h] * l->r[h][j];
			w[j] = v / l->r[j][j];
			sum += w[j] * w[j];
		}
		out[i] = sqrt(sum);
	}
}

/* --- singular values by one-sided Jacobi rotations (Golub and Van Loan, 8.6.3) */

struct jacobi {
	size_t k;
	double u[LEAST_COLUMNS_MAX][LEAST_COLUMNS_MAX]; /* columns of the triangle, as rows */
	double v[LEAST_COLUMNS_MAX][LEAST_COLUMNS_MAX];
};

static double product(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void turn(double *a, double *b, size_t n, const double cs[2])
{
	for (size_t i = 0; i < n; i++) {
		double x = a[i], y = b[i];

		a[i] = cs[0] * x - cs[1] * y;
		b[i] = cs[1] * x + cs[0] * y;
	}
}

/* Makes two columns orthogonal. Returns false if they are. */
static bool part(struct jacobi *w, size_t p, size_t q)
{
	double a = product(w->u[p], w->u[p], w->k), b = product(w->u[q], w->u[q], w->k);
	double g = product(w->u[p], w->u[q], w->k), z, t, cs[2];

	if (fabs(g) <= 1e-15 * sqrt(a * b) || fabs(g) < 1e-300)
		return false;
	z = (b - a) / (2 * g);
	t = copysign(1, z) / (fabs(z) + sqrt(1 + z * z));
	cs[0] = 1 / sqrt(1 + t * t);
	cs[1] = cs[0] * t;
	turn(w->u[p], w->u[q], w->k, cs);
	turn(w->v[p], w->v[q], w->k, cs);
	return true;
}

static void begin(struct jacobi *w, const struct least *l)
{
	w->k = l->k;
	memset(w->v, 0, sizeof(w->v));
	for (size_t j = 0; j < l->k; j++) {
		double length = column_length(l, j);

		w->v[j][j] = 1;
		for (size_t i = 0; i < l->k; i++)
			w->u[j][i] = i <= j && length > 0 ? l->r[i][j] / length : 0;
	}
}

static void sort(const struct jacobi *w, struct least_spectrum *out)
{
	bool is_used[LEAST_COLUMNS_MAX] = { false };
	double length[LEAST_COLUMNS_MAX];

	for (size_t i = 0; i < w->k; i++)
		length[i] = sqrt(product(w->u[i], w->u[i], w->k));
	for (size_t n = 0; n < w->k; n++) {
		size_t best = w->k;

		for (size_t i = 0; i < w->k; i++)
			if (!is_used[i] && (best == w->k || length[i] > length[best]))
				best = i;
		is_used[best] = true;
		out->value[n] = length[best];
		memcpy(out->direction[n], w->v[best], w->k * sizeof(double));
	}
}

void least_spectrum(const struct least *l, struct least_spectrum *out)
{
	struct jacobi w;
	bool is_done = false;

	begin(&w, l);
	for (unsigned n = 0; n < JACOBI_SWEEPS && !is_done; n++) {
		is_done = true;
		for (size_t p = 0; p + 1 < w.k; p++)
			for (size_t q = p + 1; q < w.k; q++)
				if (part(&w, p, q))
					is_done = false;
	}
	sort(&w, out);
}
