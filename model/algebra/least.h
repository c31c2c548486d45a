/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least squares by QR: minimises |A x - y| over rows that arrive one by one. Givens rotations work
 * each row into a triangle, so memory does not grow with the rows. The condition of A is not
 * squared, as by normal equations. Source: Golub and Van Loan, Matrix Computations, 5.2.
 */
#ifndef MODEL_ALGEBRA_LEAST_H
#define MODEL_ALGEBRA_LEAST_H

#include <stdbool.h>
#include <stddef.h>

#define LEAST_COLUMNS_MAX 64 /* services of one process; the paper advises less than 10 */
#define LEAST_WIDE (LEAST_COLUMNS_MAX + 1)

/* Fields are for model/algebra. Zeros and k: no rows. */
struct least {
	size_t k; /* columns of A */
	/* upper triangle; column k is the right side, and its last entry the residual */
	double r[LEAST_WIDE][LEAST_WIDE];
};

void least_init(struct least *l, size_t k);

/* Adds a row of k numbers and its right side. All are finite. O(k^2). */
void least_add(struct least *l, const double *row, double y);

/* Solves for x. -ERR_INVALID: a column is a combination of others, to 12 digits. */
int least_solve(const struct least *l, double *x);

/* Returns the sum of the squares of all residuals. */
double least_squares(const struct least *l);

/* Sets out[i] to the square root of the i-th diagonal element of (A'A)^-1. After least_solve(). */
void least_errors(const struct least *l, double *out);

/*
 * The singular values of A with columns of length 1, falling, and the direction of each. A column
 * of zeros stays one. Source: Belsley, Kuh and Welsch, Regression Diagnostics, 1980, 3.2.
 */
struct least_spectrum {
	double value[LEAST_COLUMNS_MAX];
	double direction[LEAST_COLUMNS_MAX][LEAST_COLUMNS_MAX]; /* [i] belongs to value[i] */
};
void least_spectrum(const struct least *l, struct least_spectrum *out);

#endif
