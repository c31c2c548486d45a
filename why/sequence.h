/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confidence sequences: intervals of a mean that hold at all times at once, so that a search may
 * stop when it likes.
 */
#ifndef WHY_SEQUENCE_H
#define WHY_SEQUENCE_H

#include "stats/moments.h"
#include "why/finding.h"

#define SEQUENCE_GRID 64 /* thetas (k/64)^2: steps of 2 % at 0.5, below 0.5 % at 0.02 */

/*
 * Sets the bounds of the mean of n values in [0, 1], of any distribution, with an error of alpha.
 * They enclose the thetas of the grid that no bet on a larger or smaller mean has rejected so far.
 * Source: Waudby-Smith and Ramdas, JRSS B 86(1), 2024. O(n).
 */
void sequence_bounds(const double *x, size_t n, double alpha, struct why_range *out);

/*
 * For values of any range with a finite variance: mean +- width, narrowest near 10 values. It is
 * theorem 2.2 of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Annals of Statistics 52(6),
 * 2024. The theorem holds for many values. For few ones, the width grows as Student's t does.
 * Infinite for fewer than SEQUENCE_VALUES_MIN values.
 */
double sequence_width(const struct moments *m, double alpha);
#define SEQUENCE_VALUES_MIN 3

#endif
