/* SPDX-License-Identifier: Apache-2.0 */
#include "model/algebra/nonnegative.h"

#include "common/base/err.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-10 /* of a gradient, relative to its terms */

/* Least squares of the free columns, from the triangle of all. */
static void take_free(const struct least *l, const bool *is_free, struct least *sub)
{
	size_t n = 0;

	for (size_t j = 0; j < l->k; j++)
		n += is_free[j];
	least_init(sub, n);
	for (size_t i = 0; i <= l->k; i++) {
		double row[LEAST_WIDE];
		size_t at = 0;

		for (size_t j = 0; j < l->k; j++)
			if (is_free[j])
				row[at++] = j >= i ? l->r[i][j] : 0;
		least_add(sub, row, l->r[i][l->k]);
	}
}

/* Returns the column at 0 whose growth lowers the residual most; k: none does. */
static size_t steepest(const struct least *l, const double *x, const bool *is_free)
{
	double best = 0, residual[LEAST_WIDE];
	size_t at = l->k;

	for (size_t i = 0; i < l->k; i++) {
		residual[i] = l->r[i][l->k];
		for (size_t j = i; j < l->k; j++)
			residual[i] -= l->r[i][j] * x[j];
	}
	for (size_t j = 0; j < l->k; j++) {
		double g = 0, size = 0;

		for (size_t i = 0; i <= j; i++) {
			g += l->r[i][j] * residual[i];
			size += fabs(l->r[i][j] * l->r[i][l->k]);
		}
		if (!is_free[j] && g > ROUNDING * size && g > best) {
			best = g;
			at = j;
		}
	}
	return at;
}

static int solve_free(const struct least *l, const bool *is_free, struct least *sub, double *z)
{
	double x[LEAST_COLUMNS_MAX];
	size_t at = 0;
	int rc;

	take_free(l, is_free, sub);
	rc = least_solve(sub, x);
	if (rc)
		return rc;
	for (size_t j = 0; j < l->k; j++)
		z[j] = is_free[j] ? x[at++] : 0;
	return 0;
}

/* Moves x towards z until a free column reaches 0, and holds it there. False: x is z. */
static bool step(size_t k, double *x, const double *z, bool *is_free)
{
	size_t at = k;
	double share = 1;

	for (size_t j = 0; j < k; j++)
		if (is_free[j] && z[j] <= 0 && (at == k || x[j] / (x[j] - z[j]) < share)) {
			share = x[j] > 0 ? x[j] / (x[j] - z[j]) : 0;
			at = j;
		}
	for (size_t j = 0; j < k; j++)
		x[j] += share * (z[j] - x[j]);
	if (at == k)
		return false;
	is_free[at] = false;
	x[at] = 0;
	return true;
}

int nonnegative_solve(const struct least *l, double *x, bool *is_free, struct least *sub)
{
	double z[LEAST_COLUMNS_MAX];

	memset(x, 0, l->k * sizeof(*x));
	memset(is_free, 0, l->k * sizeof(*is_free));
	for (size_t n = 0; n <= 3 * l->k; n++) {
		size_t at = steepest(l, x, is_free);
		int rc;

		if (at == l->k)
			return solve_free(l, is_free, sub, z);
		is_free[at] = true;
		do {
			rc = solve_free(l, is_free, sub, z);
			if (rc)
				return rc;
		} while (step(l->k, x, z, is_free));
	}
	return -ERR_LIMIT;
}
