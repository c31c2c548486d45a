/* SPDX-License-Identifier: Apache-2.0 */
/* Least squares with x >= 0: Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23.
 */
#ifndef MODEL_ALGEBRA_NONNEGATIVE_H
#define MODEL_ALGEBRA_NONNEGATIVE_H

#include "model/algebra/least.h"

/*
 * Solves for x >= 0. is_free[i]: x[i] is not held at 0. *sub: least squares of the free columns
 * alone, in their order. -ERR_INVALID: as least_solve(). -ERR_LIMIT: no end in 3 k steps.
 */
int nonnegative_solve(const struct least *l, double *x, bool *is_free, struct least *sub);

#endif
