/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests by betting: a caller may look at them after each value, and stop at any time. Sources:
 * Shafer, JRSS A 184(2), 2021; Waudby-Smith and Ramdas, JRSS B 86(1), 2024; docs/why.md.
 *
 * An e-process is never negative. While its hypothesis holds, its mean is at most 1. Then it ever
 * reaches 1/a with a probability of at most a (Ville 1939). That needs no distribution, and no
 * independence of the values.
 *
 * A loss may begin at any time. So the part EPROCESS_FIRST of the capital bets from the first value
 * on. Of the rest, 1/(t (t-1)) bets from value t on (Shin, Ramdas and Rinaldo 2022).
 */
#ifndef WHY_EPROCESS_H
#define WHY_EPROCESS_H

#include <stddef.h>
#include <stdint.h>

#define EPROCESS_BETS 7
#define EPROCESS_FIRST 0.8 /* most losses are there when a search begins */

/* All zeros: no values. Logarithms are natural. */
struct eprocess {
	uint64_t n; /* values */
	double log_m[EPROCESS_BETS]; /* of the capital of each bet; -INFINITY before the first */
	double log_e, log_sup; /* now, and the largest so far; 0 without values */
};

/*
 * Adds x in [0, 1] to the test of "the mean of x, given the past, is at most theta". 0 < theta < 1.
 * The bets are {0.5, 1, 2, ..., 32}, at most 0.9/theta. NaN changes nothing.
 */
void eprocess_add_share(struct eprocess *p, double x, double theta);

/*
 * Adds an outcome to the test of "the event has at most the probability `chance`, given the past".
 * 0 < chance < 1. The bets are on the probabilities of {0.25, 0.5, 0.75, 0.95} above chance. If
 * there is none, the bet is on the middle between chance and 1.
 */
void eprocess_add_event(struct eprocess *p, int has_occurred, double chance);

/* Returns log(exp(a) + exp(b)) without overflow. */
double log_add(double a, double b);

/* Returns min(1, exp(-log_e)): a p-value of the test that has the e-value. */
double eprocess_p(double log_e);

/*
 * Holm's procedure (Scand. J. Statist. 6, 1979) on n p-values at the level alpha: sets is_rejected.
 * Valid for any dependence. NaN: not tested, and not counted. n <= HOLM_MAX.
 */
#define HOLM_MAX 64
void holm(const double *p, size_t n, double alpha, unsigned char *is_rejected);

#endif
