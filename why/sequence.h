/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confidence sequences: intervals of a mean that hold at all times at once, so that a search may
 * stop when it likes.
 */
#ifndef WHY_SEQUENCE_H
#define WHY_SEQUENCE_H

#include "stats/moments.h"
#include "why/eprocess.h"

#define SEQUENCE_GRID 64 /* thetas (k/64)^2: 2 % steps at 0.5, below 0.5 % at 0.02 */

/*
 * For values in [0, 1], of any distribution: the thetas that no bet on a larger or smaller mean has
 * rejected. Source: Waudby-Smith and Ramdas, JRSS B 86(1), 2024. All zeros: no values.
 */
struct sequence {
	uint64_t n;
	double above[SEQUENCE_GRID + 1][EPROCESS_BETS]; /* log capital of bets on a larger mean */
	double below[SEQUENCE_GRID + 1][EPROCESS_BETS];
	double log_above[SEQUENCE_GRID + 1], log_below[SEQUENCE_GRID + 1]; /* the largest so far */
};

void sequence_add(struct sequence *s, double x); /* NaN changes nothing */

/* Returns the bounds with an error of alpha, half of it on each side. They lie on the grid. */
void sequence_bounds(const struct sequence *s, double alpha, double *low, double *high);

/*
 * For values of any range with a finite variance: mean +- width, narrowest near 10 values. It is
 * theorem 2.2 of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Annals of Statistics 52(6),
 * 2024. The theorem holds for many values. For few ones, the width grows as Student's t does.
 * Infinite for fewer than SEQUENCE_VALUES_MIN values.
 */
double sequence_width(const struct moments *m, double alpha);
#define SEQUENCE_VALUES_MIN 3

#endif
