/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hypotheses and findings. Names follow the patterns of Scalasca and KOJAK (Wolf and Mohr 2003), so
 * that users can look them up. The severity of a symptom is a share of all rank-seconds, in [0, 1].
 */
#ifndef WHY_FINDING_H
#define WHY_FINDING_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* W: symptoms, how time is lost. C: causes, why late ranks are late. X: other. */
enum why_id {
	WHY_W, /* time in MPI calls: the parent of W1 .. W15 */
	WHY_W1,
	WHY_W2,
	WHY_W3,
	WHY_W4,
	WHY_W5,
	WHY_W6,
	WHY_W7,
	WHY_W8,
	WHY_W9,
	WHY_W10,
	WHY_W11,
	WHY_W12,
	WHY_W13,
	WHY_W14,
	WHY_W15,
	WHY_C1,
	WHY_C2,
	WHY_C3,
	WHY_C4,
	WHY_C5,
	WHY_C8, /* here, because C1 .. C5 and C8 explain an excess */
	WHY_C6,
	WHY_C7,
	WHY_IDS
};

#define WHY_SYMPTOMS ((size_t)WHY_C1) /* the ids below it */
#define WHY_CAUSES 6 /* WHY_C1 .. WHY_C8, which explain the excess of late ranks */

struct why_hypothesis {
	const char *id; /* "W1" */
	const char *name; /* "wait_at_barrier" */
	const char *words; /* "ranks wait for the last one at barriers" */
	const char *evidence; /* metric that shows it, e.g. "Barrier_delay"; NULL: none */
	enum why_id parent; /* WHY_IDS: none */
};

const struct why_hypothesis *why_hypothesis(enum why_id id);

/* An estimate with its interval at 95 %. NaN: not known. */
struct why_range {
	double value, low, high;
};

/*
 * The state of a finding after the last block. STRONGER and WEAKER: its severity has left the
 * interval that it had when the state was last NEW, STRONGER or WEAKER. GONE: the loss has ended.
 */
enum why_state { WHY_NEW, WHY_STEADY, WHY_STRONGER, WHY_WEAKER, WHY_GONE };
const char *why_state_name(enum why_state s); /* "new" */

struct why_cause {
	enum why_id id; /* WHY_C1 .. WHY_C8 */
	struct why_range share; /* of the excess of the late ranks */
	bool is_sure; /* passed its test; otherwise the most likely cause */
};

#define WHY_PLACE_MAX 8 /* ranks, hosts or pairs that a finding names: more are not a place */

struct why_place_pair {
	int32_t from, to; /* from waited for to */
};

/* Plain data; the owner is the search. */
struct why_finding {
	unsigned number; /* from 1, the same in all blocks */
	enum why_id id;
	enum why_state state;
	struct why_range severity;
	double at_least; /* lower bound that holds for any distribution; below severity.low */
	bool is_lower_bound; /* the loss is at least the severity */
	double log_e; /* natural logarithm of the largest E of the severity */
	/*
	 * True if severity and place passed their tests. False: the loss is certain, its place is
	 * the most likely one.
	 */
	bool is_sure;
	double place_log_e; /* of the place; NaN: no place */
	int32_t rank[WHY_PLACE_MAX]; /* culprits; ascending */
	size_t nrank;
	uint32_t host[WHY_PLACE_MAX]; /* of the culprits, or culprits themselves; ascending */
	size_t nhost;
	bool is_host; /* hosts are the culprits: their ranks are late in turn */
	struct why_place_pair pair[WHY_PLACE_MAX];
	size_t npair;
	/* useful time of the culprits by that of other alike ranks; NaN without culprits */
	struct why_range ratio;
	struct why_cause cause[WHY_CAUSES]; /* largest share first, until 80 % are explained */
	size_t ncause;
	nsec_t since, until; /* of the loss; until is 0 while it lasts */
	nsec_t found; /* end of the block that made it a finding */
	unsigned blocks_held; /* blocks since `since` in which the loss was above the threshold */
	unsigned blocks_until_found; /* from the first block of the search */
	uint32_t ranks_covered; /* in the last block */
	int64_t ranks_of;
};

/* The state of a hypothesis in the search. */
enum why_verdict {
	WHY_CLOSED, /* not tested yet: its parent has not been found */
	WHY_OPEN,
	WHY_FOUND,
	WHY_RULED_OUT, /* the upper bound of its severity is below the threshold */
	WHY_UNTESTABLE, /* its evidence is missing; the reason is in the summary */
};

struct why_summary {
	struct why_range useful; /* share of rank-seconds outside of MPI calls */
	size_t blocks;
	nsec_t begin, end; /* of the blocks */
	uint32_t ranks; /* covered by the last block */
	uint32_t hosts;
	int64_t ranks_of;
	size_t findings; /* without those that are gone */
	struct {
		enum why_verdict verdict;
		const char *reason; /* of WHY_UNTESTABLE, for users; otherwise NULL. Static */
		struct why_range severity;
		double log_e;
	} of[WHY_IDS];
	bool is_done; /* no hypothesis is open and no finding waits for its place or causes */
};

#endif
