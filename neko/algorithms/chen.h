/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quality of service of NFD-S, by the formulas of Chen, Toueg and Aguilera (IEEE ToC 51(5), 2002).
 * Assumes independent losses and delays, and synchronised clocks.
 */
#ifndef NEKO_ALGORITHMS_CHEN_H
#define NEKO_ALGORITHMS_CHEN_H

#include "neko/core/delay.h"

struct chen {
	double eta, delta; /* seconds */
	double loss;
	struct delay delay;
};

/* Seconds. */
struct chen_qos {
	double recurrence; /* E(T_MR): time between the beginnings of two mistakes */
	double duration; /* E(T_M): duration of a mistake */
	double accuracy; /* P_A: probability that a living process is trusted at a random time */
	double detection; /* the largest possible T_D */
};

/*
 * Fails with ERR_LIMIT if delta is more than some thousand eta. If no mistake is possible,
 * recurrence is infinite and duration is NaN.
 */
int chen_predict(const struct chen *c, struct chen_qos *out, struct err *e);

/* Requirements in seconds: detection time, and recurrence and duration of mistakes. */
struct chen_requirements {
	double detection, recurrence, duration;
};

/*
 * Finds the largest eta, and its delta, that fulfil the requirements on such a network (section 4).
 * Fails with ERR_INVALID if there is none.
 */
int chen_configure(const struct chen_requirements *w, struct chen *inout, struct err *e);

#endif
