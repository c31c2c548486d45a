/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear programmes with few unknowns and many conditions: A x >= b, x >= 0. They are solved in
 * the dual, whose table has a row for each unknown. Another goal begins where the last one ended.
 */
#ifndef MODEL_ALGEBRA_PROGRAMME_H
#define MODEL_ALGEBRA_PROGRAMME_H

#include "common/base/err.h"

#include <stddef.h>

struct programme;

#define PROGRAMME_UNKNOWNS_MAX 65 /* services of a process, and the violation of conditions */
/* conditions: a table of 65 rows has then 50 MB, and is searched in 10 ms for each step */
#define PROGRAMME_CONDITIONS_MAX 100000

/*
 * a: n rows of k numbers, copied; b: n numbers. All are finite, and about 1 at most: a condition
 * holds to 1e-13. -ERR_NOMEM, -ERR_LIMIT.
 */
int programme_new(size_t k, size_t n, const double *a, const double *b, struct programme **out);
void programme_free(struct programme *p);

/*
 * Sets x to the solution with the least c x. The first goal has c >= 0. -ERR_NOTFOUND: c x has no
 * lower bound. -ERR_INVALID: the conditions contradict one another. -ERR_LIMIT: too many steps.
 */
int programme_minimise(struct programme *p, const double *c, double *x);

#endif
