/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study: replications of a simulated server, the demands that a method estimates from each, and
 * their errors. The error is E_rel of the paper: the sum over services of |estimated - real| times
 * requests, by the sum of real times requests.
 */
#ifndef MODEL_EXPERIMENT_STUDY_H
#define MODEL_EXPERIMENT_STUDY_H

#include "model/estimate/estimate.h"
#include "model/experiment/server.h"
#include "stats/moments.h"

#define STUDY_REPLICATIONS_MAX 1000000
#define STUDY_CUT_MAX 1000

struct study {
	struct server server;
	enum estimate_method method;
	unsigned replications;
	unsigned cut; /* each period is measured as so many equal ones; 0: 1 */
	uint64_t seed;
	double level; /* of the intervals of demands, whose coverage is counted */
};

struct study_result {
	struct moments error; /* E_rel, of each replication with an estimate of all services */
	double *sorted; /* owned; the same values, rising */
	uint64_t intervals, covered; /* of demands, and those with the real demand in them */
	unsigned refused; /* replications without an estimate of all services */
	struct err reason; /* of the first of them */
};

/* ERR_INVALID, ERR_LIMIT, with the factor in the text. */
int study_check(const struct study *s, struct err *e);

/* Runs replication i of s, which study_check() accepts. -ERR_NOMEM, -ERR_LIMIT. */
int study_replicate(const struct study *s, unsigned i, struct study_result *out);

/* Makes an empty result with room for s->replications. -ERR_NOMEM. */
int study_begin(const struct study *s, struct study_result *out);
void study_end(struct study_result *out); /* sorts */
void study_done(struct study_result *out);

/* Returns the error that a share p of the replications does not exceed; NaN without any. */
double study_quantile(const struct study_result *r, double p);

/*
 * Returns the distance of a printed mean of `printed_n` replications from r's, in standard errors.
 * Both have the same distribution then. NaN for fewer than two replications.
 */
double study_distance(const struct study_result *r, double printed, unsigned printed_n);

#endif
