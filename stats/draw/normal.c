/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/draw/normal.h"

#include <math.h>

double draw_normal(struct rng *r)
{
	double u, v, s;

	do {
		u = 2 * rng_double(r) - 1;
		v = 2 * rng_double(r) - 1;
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	return u * sqrt(-2 * log(s) / s);
}

double draw_exponential(struct rng *r)
{
	return -log1p(-rng_double(r));
}
