/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layered models simulated: the judge of their solutions. Messages wait at tasks in the order of
 * arrival. A processor serves slices in that order, or shares itself. Think times, delays and times
 * between arrivals are exponential. Slices have their squared coefficient of variation.
 *
 * Intervals are those of batch means (Yeh and Schmeiser 2000). Numbers of events are means over
 * windows of virtual time, response times those of all requests. An initial part is left out.
 */
#ifndef MODEL_SIMULATE_SIMULATE_H
#define MODEL_SIMULATE_SIMULATE_H

#include "model/layered/layered.h"
#include "stats/interval.h"
#include "stats/stop.h"

#include <stdbool.h>
#include <stdint.h>

/* requests at a time: 64 MB; more of them mean no steady state */
#define SIMULATE_JOBS_MAX 1000000
#define SIMULATE_EVENTS_MAX 50000000 /* some 20 s */

struct simulate_options {
	uint64_t seed;
	uint64_t events; /* it ends after so many; 0: SIMULATE_EVENTS_MAX */
	double level; /* of the intervals: 0.95 */
	struct stop stop; /* over the response times of each reference task and of open arrivals */
	/* Called now and then; it ends early if true is returned. NULL: never. */
	bool (*on_turn)(void *arg, uint64_t events, double time);
	void *arg;
};

struct simulate_result {
	struct interval *task_throughput; /* owned; cycles or requests */
	struct interval *task_busy; /* owned; mean number of threads in use */
	struct interval
		*task_response; /* owned; of reference tasks a cycle without its think time */
	struct interval *entry_service; /* owned; how long a thread is held by an invocation */
	struct interval *entry_throughput; /* owned */
	struct interval *entry_response; /* owned; of open arrivals, to the reply */
	struct interval *processor_busy; /* owned; mean number of servers in use */
	double time; /* simulated, without the initial part */
	uint64_t events, seed;
	bool is_precise; /* the stop rule holds */
};

/*
 * ERR_LIMIT: a model without a steady state, or one whose cycles do not end. ERR_INVALID: a cycle
 * takes no time. ERR_NOMEM. A half-width is NaN if there are too few values.
 */
int simulate(const struct layered *m, const struct simulate_options *o, struct simulate_result *out,
	     struct err *e);
void simulate_result_done(struct simulate_result *r);

#endif
