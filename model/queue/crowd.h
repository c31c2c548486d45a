/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A station with several servers, as an arriving customer finds it. Only the mean number of those
 * that are there is known. The distribution is that of a finite source with this mean: exact if the
 * rest of the network is a delay.
 */
#ifndef MODEL_QUEUE_CROWD_H
#define MODEL_QUEUE_CROWD_H

#include "model/queue/network.h"

struct crowd {
	const struct station *at;
	double found; /* mean number */
	double most; /* that can be there: all other customers */
	double *guess; /* of the logarithm of a rate; it continues from here. 0: none */
};

/*
 * Times of an arriving customer in mean service times: until a server is free, and at the server.
 * Returns the number of steps.
 */
double crowd_times(const struct crowd *c, double *wait, double *own);

/* The factor of a service time while n servers are in use; 1 without station->slower. */
double station_slower(const struct station *at, double n);

#endif
