/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delay of a message: a distribution with its text, draws, and the probability of exceeding a
 * given time. In seconds; never negative.
 */
#ifndef NEKO_CORE_DELAY_H
#define NEKO_CORE_DELAY_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/rng.h"

enum delay_kind {
	DELAY_CONSTANT, /* a */
	DELAY_UNIFORM, /* from a to b */
	DELAY_EXPONENTIAL, /* mean a */
	/* the non-negative part of a normal distribution with mean a and deviation b */
	DELAY_NORMAL,
	DELAY_LOGNORMAL, /* mean a and deviation b of the delay itself, not of its logarithm */
	DELAY_PARETO, /* at least a; the tail has the power b > 1 */
};

struct delay {
	enum delay_kind kind;
	double a, b;
	double least; /* the fixed part of each delay, such as the propagation time */
	double mu, sigma; /* mean and deviation of a lognormal's logarithm */
};

/*
 * Parses "exponential(20ms)", "normal(50ms, 5ms) + 10ms", "pareto(10ms, 2.5)". ERR_PARSE,
 * ERR_INVALID with the remedy in the text.
 */
int delay_parse(const char *text, struct delay *out, struct err *e);

nsec_t delay_draw(const struct delay *d, struct rng *r);

#define DELAY_RESEND_MAX (120 * NSEC_PER_SEC) /* Linux's TCP_RTO_MAX */

/*
 * Draws the additional delay of a segment if each transmission is lost with probability `loss` < 1.
 * The segment is sent again after `first`, then after twice that time, up to DELAY_RESEND_MAX (RFC
 * 6298, 5.5). Returns 0 if the first transmission arrives.
 */
nsec_t delay_draw_resends(double loss, nsec_t first, struct rng *r);

/* Returns P(D > seconds). */
double delay_tail(const struct delay *d, double seconds);

/* Finds the points where the tail is not smooth, at most 2. Returns their number. */
unsigned delay_corners(const struct delay *d, double out[2]);

double delay_mean(const struct delay *d);
double delay_deviation(const struct delay *d); /* INFINITY for a Pareto distribution with b <= 2 */

#endif
