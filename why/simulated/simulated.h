/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bulk-synchronous program in virtual time: in each iteration all ranks work, and then meet in a
 * collective. One rank or host may be late for a known reason. So the right findings are known.
 */
#ifndef WHY_SIMULATED_SIMULATED_H
#define WHY_SIMULATED_SIMULATED_H

#include "stats/draw/law.h"
#include "why/block.h"
#include "why/finding.h"

/* The planted reason, and the symptom by which it shows. */
enum simulated_plant {
	SIMULATED_HEALTHY,
	SIMULATED_MORE_WORK, /* a rank, at barriers */
	SIMULATED_DESCHEDULED, /* a rank, at collectives of all with all */
	SIMULATED_PAGING, /* a rank, at collectives of all with all */
	SIMULATED_DISK, /* a rank, at barriers */
	SIMULATED_SLOW_HOST, /* a host, at collectives of all with all */
	SIMULATED_LATE_ROOT, /* rank 0, at broadcasts */
	SIMULATED_LATE_SENDER, /* a rank, at receives of all others, in turn */
	SIMULATED_SLOW_COLLECTIVE, /* no rank is late */
	SIMULATED_FILE, /* all ranks in MPI-IO */
	SIMULATED_TWO, /* two ranks, at barriers: the second is late by half of the first */
	SIMULATED_PLANTS
};

struct simulated_name {
	const char *name; /* "more-work" */
	enum why_id id; /* the hypothesis that is right; WHY_IDS: none */
	enum why_id cause; /* WHY_IDS: none */
};
const struct simulated_name *simulated_name(enum simulated_plant p);

/* Sets *out to the plant of that name. ERR_NOTFOUND with the names. */
int simulated_parse(const char *name, enum simulated_plant *out, struct err *e);

struct simulated_conf {
	uint64_t seed;
	size_t ranks, hosts; /* 2 <= ranks <= WHY_RANKS_MAX; 1 <= hosts <= ranks */
	unsigned iterations; /* of each block; at least 1 */
	struct law noise; /* of the work of an iteration, scaled to the mean 1 */
	double dependence; /* in [0, 1): of the spread of the noise on that of the block before */
	enum simulated_plant plant;
	double loss; /* planted share of all rank-seconds, in [0, 0.9] */
	unsigned from, until; /* blocks with the plant; until 0: to the end */
};

struct simulated {
	struct simulated_conf conf;
	struct rng rng;
	size_t culprit; /* rank or host that is planted */
	double spread; /* of the noise; 1 in the mean */
	unsigned blocks;
	double iteration, late; /* seconds: of an iteration without the plant, of its excess */
	struct why_rank *rank;
	struct why_host *host;
	double *work; /* of the ranks in an iteration */
	nsec_t now;
};

/* ERR_NOMEM, or ERR_INVALID for a configuration out of range. */
int simulated_init(struct simulated *s, const struct simulated_conf *c, struct err *e);
void simulated_done(struct simulated *s); /* also after simulated_init() failed */

/* Makes the next block. Valid until the next call. */
struct why_block simulated_next(struct simulated *s);

#endif
