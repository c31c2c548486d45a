/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queueing networks: classes of customers that think, then visit stations; open ones only arrive.
 * Times have any unit, the same for all; throughputs are per that unit. Sources: Reiser and
 * Lavenberg, JACM 27 (1980); Lazowska et al., Quantitative System Performance, 1984; Chandy and
 * Neuse, CACM 25 (1982).
 */
#ifndef MODEL_QUEUE_NETWORK_H
#define MODEL_QUEUE_NETWORK_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define NETWORK_CLASSES_MAX 1000
#define NETWORK_STATIONS_MAX 2000
#define NETWORK_POPULATION_MAX 1000000
/* populations times stations that the exact analysis stores: 160 MB */
#define NETWORK_EXACT_MAX 20000000
/* residence times that an approximation computes, with all that it continues: some 10 s */
#define NETWORK_WORK_MAX 1e9

enum station_kind {
	/* one queue with `servers`; all customers are alike to it: processor sharing, or FCFS with
	   equal service times */
	STATION_SHARED,
	STATION_FCFS, /* the same, with service times that may differ by class */
	STATION_DELAY, /* no queue */
};

struct station {
	enum station_kind kind;
	unsigned servers; /* from 1 */
	/*
	 * borrowed: factors of service times while servers * (i + 1) / levels are in use, for the
	 * approximation; NULL: 1
	 */
	const double *slower;
	unsigned levels;
};

struct network {
	size_t classes, stations;
	const unsigned *population; /* of each class */
	const double *think; /* of each class, from 0 */
	const double *visits; /* [class * stations + station]: of a cycle */
	const double *service; /* the same: time of a visit */
	const struct station *station;
	/* for the approximation alone, with the index of visits; NULL: none */
	const double *cv2; /* squared coefficient of variation of a service; NULL: 1 */
	const double *after; /* how long a server stays in use after the customer has left */
	const double *rate; /* of each class; above 0: an open one that arrives at this rate */
	/*
	 * Customers that cannot be there at the same time, because they work for the same one. Each
	 * group has a size, and for each class the share of its customers that work for the group.
	 * A customer does not find the part of the group that works for the same one.
	 */
	size_t groups;
	const double *group_size; /* from 1 */
	const double *group_share; /* [group * classes + class] */
};

struct network_result {
	double *throughput; /* owned; cycles of each class in a unit of time */
	double *residence; /* owned; [class * stations + station], of a cycle */
	double *queue; /* owned; mean number, the same index */
	double *factor; /* owned; of waiting times at each station, by the variation of services */
	double *guess; /* owned; where the approximation of several servers continues */
	unsigned steps;
	double work; /* residence times that were computed, by all analyses that it continues */
};

/* -ERR_NOMEM. */
int network_result_init(const struct network *n, struct network_result *out);
void network_result_done(struct network_result *r);

/* ERR_INVALID, ERR_LIMIT: a number that is out of range, or a class without any time. */
int network_check(const struct network *n, struct err *e);

/*
 * Exact mean value analysis of a product-form network; STATION_FCFS counts as STATION_SHARED.
 * Memory is the product of all populations. Several servers: with one class only. ERR_LIMIT,
 * ERR_UNSUPPORTED, ERR_NOMEM.
 */
int network_exact(const struct network *n, struct network_result *out, struct err *e);

/*
 * Linearizer; where it would take too long, Bard and Schweitzer. Waits at FCFS stations
 * depend on the variation of service times: see source.h. Several servers: see crowd.h. `out` may
 * have an earlier result of the same shape, from which it continues (out->steps is not 0).
 * ERR_NOMEM; ERR_LIMIT: no convergence, or too much work.
 */
int network_approximate(const struct network *n, struct network_result *out, struct err *e);

/* Bounds of the throughput of the only class (Lazowska et al., chapter 5). */
struct network_bounds {
	double low, high; /* asymptotic */
	double balanced_low, balanced_high; /* of balanced jobs; single servers. NaN otherwise */
};
void network_bounds(const struct network *n, struct network_bounds *out);

#endif
