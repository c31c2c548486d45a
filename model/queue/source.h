/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server and its finite source: customers that come back after an exponential time. It gives the
 * effect of the variation of service times, which vanishes at saturation. Exact for one server
 * (Takacs 1962).
 */
#ifndef MODEL_QUEUE_SOURCE_H
#define MODEL_QUEUE_SOURCE_H

struct source {
	double customers;
	double servers;
	double service, cv2; /* of one server that is as fast as all */
	double away; /* mean time between a service and the next arrival */
};

/*
 * Two neighbouring Erlang distributions, mixed: mean 1, and a squared coefficient of variation of
 * at most 1 (Tijms, Stochastic Models, 1994).
 */
struct stages {
	unsigned longer; /* stages; 0: so many that the time is constant */
	double shorter; /* probability of one stage less */
};

struct stages stages_of(double cv2);

/* Returns the wait for a server, by the service times of those that are there without one. */
double source_factor(const struct source *s);

#endif
