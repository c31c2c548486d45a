/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/crowd.h"

#include <math.h>

#define NEWTON_MAX 60
#define CLOSE 1e-10
/* more customers for each server are far from idle servers: no distribution is needed */
#define CROWDED 10
#define CROWDED_LEAST 300
/* where a distribution without an end is cut, by its mean */
#define LONG 40
#define LONG_LEAST 400
#define TAIL 1e-13 /* of the probability */
#define TOO_LARGE 1e200

struct sums {
	double all, first, second; /* moments */
	double waiting, over, own; /* n >= servers: their probability, and sum of n - servers */
	double steps;
};

double station_slower(const struct station *at, double n)
{
	double place;
	unsigned below;

	if (!at->slower)
		return 1;
	place = fmin(n / at->servers, 1) * at->levels;
	if (place <= 1)
		return at->slower[0];
	below = (unsigned)place;
	if (below >= at->levels)
		return at->slower[at->levels - 1];
	return at->slower[below - 1] +
	       (place - below) * (at->slower[below] - at->slower[below - 1]);
}

static void scale(struct sums *s, double *p, double by)
{
	*p *= by;
	s->all *= by;
	s->first *= by;
	s->second *= by;
	s->waiting *= by;
	s->over *= by;
	s->own *= by;
}

/* Sums over the distribution whose arrival rate is exp(u) by mean service times. */
static void add_up(const struct crowd *c, double u, struct sums *s)
{
	double p = 1, m = c->at->servers, rate = exp(u);
	double last = fmin(c->most, LONG_LEAST + LONG * c->found);

	*s = (struct sums){ 0 };
	for (double n = 0; n <= last; n++) {
		double slow = station_slower(c->at, fmin(n + 1, m));

		s->all += p;
		s->first += n * p;
		s->second += n * n * p;
		s->own += slow * p;
		s->waiting += n >= m ? p : 0;
		s->over += n >= m ? (n - m) * p : 0;
		s->steps++;
		if (n > c->found && p < TAIL * s->all)
			break;
		p *= rate * (1 - n / c->most) * slow / fmin(n + 1, m);
		if (p > TOO_LARGE)
			scale(s, &p, 1 / TOO_LARGE);
	}
}

/* Finds the rate that has the mean; the mean rises with it. */
static double fit(const struct crowd *c, struct sums *s)
{
	double low = -80, high = 80, steps = 0;
	double u = *c->guess ? *c->guess : log(c->found);

	for (int i = 0; i < NEWTON_MAX; i++) {
		double mean, variance;

		add_up(c, u, s);
		steps += s->steps;
		mean = s->first / s->all;
		variance = s->second / s->all - mean * mean;
		if (fabs(mean - c->found) <= CLOSE * (1 + c->found))
			break;
		if (mean < c->found)
			low = u;
		else
			high = u;
		u += variance > 0 ? fmax(fmin((c->found - mean) / variance, 2), -2) : 2;
		if (!(u > low && u < high))
			u = (low + high) / 2;
	}
	*c->guess = u;
	return steps;
}

double crowd_times(const struct crowd *c, double *wait, double *own)
{
	double m = c->at->servers, full = station_slower(c->at, m);
	struct sums s;
	double steps = 1;

	*wait = 0;
	*own = station_slower(c->at, 1);
	if (!(c->found > TAIL))
		return 1;
	if (c->found >= c->most * (1 - CLOSE)) {
		*own = station_slower(c->at, fmin(c->most + 1, m));
		*wait = c->most >= m ? full / m * (1 + c->most - m) : 0;
		return 1;
	}
	if (c->found > CROWDED_LEAST + CROWDED * m) {
		*own = full;
		*wait = full / m * (1 + c->found - m);
		return 1;
	}
	steps = fit(c, &s);
	*own = s.own / s.all;
	*wait = full / m * (s.waiting + s.over) / s.all;
	return steps;
}
