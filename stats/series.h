/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics that need the values themselves, in the order of arrival. NaN if undefined. */
#ifndef STATS_SERIES_H
#define STATS_SERIES_H

#include <stddef.h>

/* Covariance and correlation of n pairs, as in pairs.h. */
double series_covariance(const double *x, const double *y, size_t n);
double series_correlation(const double *x, const double *y, size_t n);

/*
 * Computes sum (x_t - mean)(x_t+lag - mean) / sum (x_t - mean)^2, as NIST defines it, in two
 * passes. 1 at lag 0; NaN from lag n on.
 */
double series_autocorrelation(const double *x, size_t n, size_t lag);

#define SERIES_MSER_BATCH 5
#define SERIES_UNSETTLED ((size_t)-1)

/*
 * Returns how many values at the beginning are an initial transient: MSER-5 (White, Simulation
 * 69(6), 1997; White, Cobb and Spratt, WSC 2000). It cuts the means of five values where the rest
 * has the narrowest interval. SERIES_UNSETTLED: the cut is in the second half, so that the values
 * have not settled; or there are fewer than 20.
 */
size_t series_transient(const double *x, size_t n);

#endif
