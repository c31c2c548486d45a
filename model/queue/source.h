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

/* Returns the wait for a server, by the service times of those that are there without one. */
double source_factor(const struct source *s);

#endif
