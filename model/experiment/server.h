/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated server of one thread with several services, each with a generator of requests. It
 * serves in the order of arrival. Times have no unit. Source: Rolia and Vetland 1995, section 5.1.
 */
#ifndef MODEL_EXPERIMENT_SERVER_H
#define MODEL_EXPERIMENT_SERVER_H

#include "model/estimate/periods.h"
#include "stats/draw/law.h"

#define SERVER_SERVICES_MAX 32
#define SERVER_PERIODS_MAX 1000000
#define SERVER_REQUESTS_MAX 2e9 /* expected ones of a run: 2 minutes */

/* The period in which the busy time of a request counts. */
enum server_credit {
	SERVER_CREDIT_USE, /* each part where it is used, as a system reports it */
	SERVER_CREDIT_END, /* all of it where the request completes */
	SERVER_CREDIT_BEGIN, /* all of it where it begins */
};

/* The moment at which a request counts for the regression. */
enum server_count { SERVER_COUNT_BEGIN, SERVER_COUNT_ARRIVAL, SERVER_COUNT_END };

/* The nine factors of the paper, from `services` to `periods`, and what it leaves open. */
struct server {
	unsigned services;
	double mean; /* service time of the first service */
	double mean_growth; /* geometric pattern: the next service's mean by that of the last */
	struct law service;
	double utilisation; /* rates of arrival follow from it */
	double rate_growth;
	struct law arrival; /* of the time between two requests of a service */
	double period;
	unsigned periods;
	enum server_count count;
	enum server_credit credit;
};

/* The basic case of the paper: five constant services, 50 periods of 10000, utilisation 0.75. */
extern const struct server server_basic;

/* ERR_INVALID, ERR_LIMIT, with the factor in the text. */
int server_check(const struct server *s, struct err *e);

/* The mean service time, and the mean time between arrivals, of each service. */
void server_means(const struct server *s, double *service, double *between);

/* How often each service began in all, and the time that its requests took. */
struct server_truth {
	double begun[SERVER_SERVICES_MAX], time[SERVER_SERVICES_MAX];
};

/*
 * Runs it from an empty start. out: has s->services services, completions and elapsed times, and
 * is cleared first. For SERVER_COUNT_ARRIVAL and SERVER_COUNT_END, "begun" has those counts
 * instead. truth may be NULL. -ERR_NOMEM.
 */
int server_run(const struct server *s, struct rng *r, struct periods *out,
	       struct server_truth *truth);

#endif
