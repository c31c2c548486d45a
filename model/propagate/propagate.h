/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals of results of layered models, from the intervals of their demands. The model is solved
 * at both ends of the interval of each demand. The logarithm of a result is the sum of the effects
 * of all demands, each a parabola through three solutions. Its quantiles are those of the expansion
 * of Cornish and Fisher (1937) by four cumulants. The error of the solver is not part of them.
 *
 * A demand is normal on each side of its estimate, with the deviation that its interval gives. One
 * with sure bounds is uniform between them. It is at least 0. Demands of different entries are
 * independent; both phases of an entry are low or high together.
 */
#ifndef MODEL_PROPAGATE_PROPAGATE_H
#define MODEL_PROPAGATE_PROPAGATE_H

#include "model/layered/layered.h"

#include <stdbool.h>

struct propagate_options {
	double level; /* of the intervals of results: 0.95 */
	/* Called after each solution; it ends early if true is returned. NULL: never. */
	bool (*on_turn)(void *arg, size_t done, size_t all);
	void *arg;
};

/* NaN: that end is unknown, or no demand has an interval. */
struct range {
	double low, high;
};

struct propagate_result {
	struct range *all; /* owned */
	/* into `all`, as in struct layered_result */
	struct range *task_throughput, *task_busy, *task_response;
	struct range *entry_service, *entry_throughput, *entry_response;
	struct range *processor_busy;
	size_t uncertain; /* entries whose demand has an interval */
	/*
	 * Why no range is known: the interval of a demand is not, or there is no solution at an end
	 * of it. Or why no high end is known: together, demands may be too large for arrivals.
	 * Without a text there is no such reason.
	 */
	struct err reason;
};

/* m has the solution `middle`. ERR_INVALID: the level is not from 0.01 to 0.9999. ERR_NOMEM. */
int propagate(const struct layered *m, const struct layered_result *middle,
	      const struct propagate_options *o, struct propagate_result *out, struct err *e);
void propagate_result_done(struct propagate_result *r);

/*
 * Returns the quantile of the demand of a phase with an interval of two known ends, at least 0. z:
 * that of the normal distribution, such as 1.96 for the greatest 2.5 %.
 */
double propagate_demand(const struct layered_phase *v, double z);

#endif
