/* SPDX-License-Identifier: Apache-2.0 */
/* What needs the values themselves, in the order in which they came. NaN where it is not
 * defined. */
#ifndef STATS_SERIES_H
#define STATS_SERIES_H

#include <stddef.h>

/* Covariance and correlation of n pairs, as in pairs.h. */
double series_covariance(const double *x, const double *y, size_t n);
double series_correlation(const double *x, const double *y, size_t n);

/* Two passes. sum (x_t - mean)(x_t+lag - mean) / sum (x_t - mean)^2, as NIST has it. 1 at lag 0;
 * NaN from lag n on. */
double series_autocorrelation(const double *x, size_t n, size_t lag);

#define SERIES_MSER_BATCH 5
#define SERIES_UNSETTLED ((size_t)-1)

/*
 * How many values at the beginning are an initial transient: MSER-5 (White, Simulation 69(6), 1997;
 * White, Cobb and Spratt, WSC 2000). Of all ways to cut the means of five values, the one whose
 * rest has the narrowest interval. SERIES_UNSETTLED: the cut is in the second half, so that the
 * values have not settled; or they are fewer than 20.
 */
size_t series_transient(const double *x, size_t n);

#endif
