/* SPDX-License-Identifier: Apache-2.0 */
/* The moment at which the mean of a series changed. */
#ifndef WHY_CHANGE_H
#define WHY_CHANGE_H

#include <stddef.h>

#define CHANGE_SIDE_MIN 3 /* values on each side of a change: fewer are an outlier */
#define CHANGE_DEVIATIONS 5 /* of the difference of the means: chance reaches it in one of 10^4 */

/*
 * Returns the index of the first value after the most likely change, or 0 if all values are equal.
 * It is the largest of the cumulative sums of distances to the mean, scaled to equal variance
 * (CUSUM; Page, Biometrika 41, 1954; Hinkley, Biometrika 57, 1970).
 */
size_t change_at(const double *x, size_t n);

/*
 * The same, but 0 unless the change is significant: CHANGE_SIDE_MIN values on both sides, whose
 * means differ by `least` and by CHANGE_DEVIATIONS.
 */
size_t change_find(const double *x, size_t n, double least);

#endif
