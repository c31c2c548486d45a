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
	double recurrence; /* E(T_MR), between two beginnings of mistakes */
	double duration; /* E(T_M), of a mistake */
	double accuracy; /* P_A, that a process that is up is trusted at a random time */
	double detection; /* the most that T_D can be */
};

/*
 * ERR_LIMIT: delta is more than some thousand eta. Without any mistake, recurrence is infinite and
 * duration NaN.
 */
int chen_predict(const struct chen *c, struct chen_qos *out, struct err *e);

/* Requirements: detection time, and recurrence and duration of mistakes (seconds). */
struct chen_requirements {
	double detection, recurrence, duration;
};

/*
 * For a network with these losses and delays: finds the largest eta, and its delta, that meet the
 * requirements: section 4. ERR_INVALID: none does.
 */
int chen_configure(const struct chen_requirements *w, struct chen *inout, struct err *e);

#endif
