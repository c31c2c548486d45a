/* SPDX-License-Identifier: Apache-2.0 */
/* Least squares against solutions by hand, and bounds and programmes against trial of all cases. */
#include "common/base/err.h"
#include "common/base/rng.h"
#include "model/algebra/least.h"
#include "model/algebra/nonnegative.h"
#include "model/algebra/programme.h"
#include "tests/suite.h"

#include <math.h>

#define K 4
#define N 12

static void random_rows(struct rng *r, double (*a)[K], double *y)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < K; j++)
			a[i][j] = rng_double(r) * 10;
		y[i] = rng_double(r) * 10 - 3;
	}
}

static void fill(double (*a)[K], const double *y, struct least *l)
{
	least_init(l, K);
	for (int i = 0; i < N; i++)
		least_add(l, a[i], y[i]);
}

static double squares_of(double (*a)[K], const double *y, const double *x)
{
	double sum = 0;

	for (int i = 0; i < N; i++) {
		double v = y[i];

		for (int j = 0; j < K; j++)
			v -= a[i][j] * x[j];
		sum += v * v;
	}
	return sum;
}

/* Points (1, 1), (2, 2), (3, 2) and a line through them: 2/3 + x/2. */
TEST(a_line_through_three_points_is_known)
{
	struct least l;
	double x[2], error[2];

	least_init(&l, 2);
	least_add(&l, (double[]){ 1, 1 }, 1);
	least_add(&l, (double[]){ 1, 2 }, 2);
	least_add(&l, (double[]){ 1, 3 }, 2);
	ck_assert_int_eq(least_solve(&l, x), 0);
	ck_assert_double_eq_tol(x[0], 2.0 / 3, 1e-12);
	ck_assert_double_eq_tol(x[1], 0.5, 1e-12);
	ck_assert_double_eq_tol(least_squares(&l), 1.0 / 6, 1e-12);
	/* (A'A)^-1 has the diagonal 7/3, 1/2 */
	least_errors(&l, error);
	ck_assert_double_eq_tol(error[0] * error[0], 7.0 / 3, 1e-12);
	ck_assert_double_eq_tol(error[1] * error[1], 0.5, 1e-12);
}

TEST(no_other_point_has_smaller_squares)
{
	double a[N][K], y[N], x[K];
	struct least l;
	struct rng r;

	rng_init(&r, 5);
	for (int n = 0; n < 50; n++) {
		random_rows(&r, a, y);
		fill(a, y, &l);
		ck_assert_int_eq(least_solve(&l, x), 0);
		ck_assert_double_eq_tol(squares_of(a, y, x), least_squares(&l), 1e-9);
		for (int j = 0; j < K; j++) {
			x[j] += 1e-3;
			ck_assert(squares_of(a, y, x) > least_squares(&l));
			x[j] -= 1e-3;
		}
	}
}

TEST(a_column_that_is_a_sum_of_others_has_no_solution)
{
	double a[N][K], y[N], x[K];
	struct least_spectrum s;
	struct least l;
	struct rng r;

	rng_init(&r, 8);
	random_rows(&r, a, y);
	for (int i = 0; i < N; i++)
		a[i][2] = a[i][0] + a[i][1];
	fill(a, y, &l);
	ck_assert_int_eq(least_solve(&l, x), -ERR_INVALID);
	least_spectrum(&l, &s);
	ck_assert(s.value[K - 1] < 1e-12);
	ck_assert(fabs(s.direction[K - 1][3]) < 1e-6);
	ck_assert(fabs(s.direction[K - 1][0]) > 0.1);
}

/* Orthogonal columns of length 1 have the condition 1. */
TEST(independent_columns_have_the_condition_1)
{
	struct least_spectrum s;
	struct least l;

	least_init(&l, 2);
	least_add(&l, (double[]){ 5, 0 }, 1);
	least_add(&l, (double[]){ 0, 1e-3 }, 1);
	least_spectrum(&l, &s);
	ck_assert_double_eq_tol(s.value[0], 1, 1e-12);
	ck_assert_double_eq_tol(s.value[1], 1, 1e-12);
}

/* The best of all 2^K choices of columns at 0 whose others are not negative. */
static double best_by_trial(double (*a)[K], const double *y)
{
	double best = INFINITY;

	for (int set = 0; set < 1 << K; set++) {
		struct least l;
		double x[K] = { 0 }, z[K];
		int n = 0;
		bool is_fine = true;

		least_init(&l, (size_t)__builtin_popcount((unsigned)set));
		for (int i = 0; i < N; i++) {
			double row[K];

			n = 0;
			for (int j = 0; j < K; j++)
				if (set & 1 << j)
					row[n++] = a[i][j];
			least_add(&l, row, y[i]);
		}
		if (n && least_solve(&l, z))
			continue;
		n = 0;
		for (int j = 0; j < K; j++)
			if (set & 1 << j) {
				x[j] = z[n++];
				is_fine = is_fine && x[j] >= 0;
			}
		if (is_fine && squares_of(a, y, x) < best)
			best = squares_of(a, y, x);
	}
	return best;
}

TEST(least_squares_with_bounds_are_the_best_of_all_cases)
{
	double a[N][K], y[N], x[K], best;
	bool is_free[K];
	struct least l, sub;
	struct rng r;
	int held = 0;

	rng_init(&r, suite_seed(11));
	for (int n = 0; n < 200; n++) {
		random_rows(&r, a, y);
		fill(a, y, &l);
		best = best_by_trial(a, y);
		ck_assert_int_eq(nonnegative_solve(&l, x, is_free, &sub), 0);
		ck_assert_double_eq_tol(least_squares(&sub), best, 1e-8);
		ck_assert_double_eq_tol(squares_of(a, y, x), best, 1e-8);
		for (int j = 0; j < K; j++) {
			ck_assert(x[j] >= 0);
			held += !is_free[j];
		}
	}
	ck_assert(held > 0);
}

/* least x + y with 2x + y >= 4, x + 3y >= 6: both hold as equations at (6/5, 8/5). */
TEST(a_programme_by_hand_is_solved)
{
	const double a[] = { 2, 1, 1, 3 }, b[] = { 4, 6 };
	struct programme *p = NULL;
	double x[2];

	ck_assert_int_eq(programme_new(2, 2, a, b, &p), 0);
	ck_assert_int_eq(programme_minimise(p, (double[]){ 1, 1 }, x), 0);
	ck_assert_double_eq_tol(x[0], 1.2, 1e-12);
	ck_assert_double_eq_tol(x[1], 1.6, 1e-12);
	/* another goal: least x is at (0, 4) */
	ck_assert_int_eq(programme_minimise(p, (double[]){ 1, 0 }, x), 0);
	ck_assert_double_eq_tol(x[0], 0, 1e-12);
	ck_assert_int_eq(programme_minimise(p, (double[]){ -1, 0 }, x), -ERR_NOTFOUND);
	programme_free(p);
}

TEST(contradicting_conditions_are_refused)
{
	const double a[] = { 1, -1 }, b[] = { 2, -1 };
	struct programme *p = NULL;
	double x[1];

	ck_assert_int_eq(programme_new(1, 2, a, b, &p), 0);
	ck_assert_int_eq(programme_minimise(p, (double[]){ 1 }, x), -ERR_INVALID);
	programme_free(p);
}

SUITE("least")
