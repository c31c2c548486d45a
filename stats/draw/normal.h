/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the normal and the exponential distribution. */
#ifndef STATS_DRAW_NORMAL_H
#define STATS_DRAW_NORMAL_H

#include "common/base/rng.h"

/*
 * Draws from the standard normal distribution by Marsaglia's polar method. The second number of the
 * method is not stored, so that draws are independent of earlier ones.
 */
double draw_normal(struct rng *r);

/* Draws from the exponential distribution with mean 1. */
double draw_exponential(struct rng *r);

#endif
