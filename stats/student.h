/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles of the normal and of Student's distribution, to 13 digits
 * for levels up to STUDENT_LEVEL_MAX.
 */
#ifndef STATS_STUDENT_H
#define STATS_STUDENT_H

#define STUDENT_LEVEL_MIN 0.01
#define STUDENT_LEVEL_MAX 0.999999999 /* above it, 1 - level has too few significant digits */

/*
 * Returns P(T > t) with df degrees of freedom, df > 0 need not be a whole number. At df = 10^6 it
 * has 10 digits.
 */
double student_tail(double t, double df);

/*
 * Returns the t with P(-t < T < t) = level: half the width of an interval, in standard errors. df >
 * 0. NaN for a level outside of the limits.
 */
double student_two_sided(double level, double df);

/* Returns the limit of student_two_sided() for many degrees of freedom, the normal distribution. */
double normal_two_sided(double level);

/* Returns the z with P(Z < z) = p, 0 < p < 1. */
double normal_quantile(double p);

#endif
