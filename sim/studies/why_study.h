/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error rates of the search for lost time (why/), over many simulated programs with a planted loss.
 * It counts false findings, planted losses that were found, and right places and causes. It also
 * measures the cost of a block.
 */
#ifndef SIM_STUDIES_WHY_STUDY_H
#define SIM_STUDIES_WHY_STUDY_H

#include "common/base/buf.h"
#include "stats/moments.h"
#include "why/search.h"
#include "why/simulated/simulated.h"

#define WHY_STUDY_BLOCKS_MAX 10000

struct why_study_conf {
	struct simulated_conf program; /* its seed is replaced */
	const char *noise_text;
	uint64_t first, last; /* seeds, one search each */
	unsigned blocks; /* of each search */
	struct why_options options;
	bool (*must_end)(void); /* NULL: never */
	bool is_json; /* of why_study_show() */
};

/* Counts of searches, unless another unit is given. */
struct why_study_result {
	uint64_t searches;
	/* loss of each hypothesis in a long run: a finding is false if it is below the threshold */
	double truth[WHY_SYMPTOMS];
	uint64_t with_false; /* at least one false finding */
	uint64_t false_places; /* a place that is sure, and is not the planted one */
	uint64_t found, first_in_list; /* the planted loss */
	uint64_t place_right, cause_right, cause_named; /* of those found */
	uint64_t covered; /* found, and the interval has the true loss */
	struct moments blocks_until; /* found */
	double seconds_max; /* of a processor, for the longest block */
	uint64_t blocks; /* added */
	double seconds; /* of a processor, in why_add() */
	double virtual_seconds; /* of the blocks */
};

/*
 * Runs all searches, with a line of progress on a terminal. ERR_INVALID for a wrong configuration;
 * ERR_NOMEM. Partial results if it must end.
 */
int why_study_run(const struct why_study_conf *c, struct why_study_result *out, struct err *e);

/* The same, and prints the results on standard output. */
int why_study_show(const struct why_study_conf *c, struct err *e);

void why_study_print(const struct why_study_conf *c, const struct why_study_result *r,
		     struct buf *out);
void why_study_print_json(const struct why_study_conf *c, const struct why_study_result *r,
			  struct buf *out);

/* The interval of a probability at 95 %, for k of n (Wilson, JASA 22, 1927). [0, 1] for n = 0. */
struct why_range why_study_share(uint64_t k, uint64_t n);

#endif
