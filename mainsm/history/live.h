/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running jobs, and the totals of each at its last sample. Hosts report totals; a sample
 * contains the differences. Pure: the inputs are the directory and replies, and time is an
 * argument.
 */
#ifndef MAINSM_HISTORY_LIVE_H
#define MAINSM_HISTORY_LIVE_H

#include "common/container/map.h"
#include "common/omis/reply/reply.h"
#include "mainsm/directory/directory.h"
#include "mainsm/history/sample.h"

#define LIVE_JOBS_MAX 1024 /* jobs at a time: more than the batch steps of one user */

struct live_job {
	struct live *live;
	char *name; /* owned */
	char program[256];
	struct list parts; /* struct live_part: one a host */
	/* of the directory, values of the last live_scan() */
	uint64_t round;
	int64_t processes, alive, ranks, nodes, world_size, exit_status;
	/* of replies since the last sample */
	int64_t answered_nodes;
	struct history_job sum;
	struct history_call *call; /* owned; sums, by function */
	size_t ncall, cap;
	struct live_rank *rank; /* owned; of this sample */
	size_t nrank, rank_cap;
	int64_t counted, volumes; /* at the last sample */
	double age_s; /* age of its first process, -1: not known */
	nsec_t began, sampled_at, ranks_at; /* wall; 0: never */
	/* loop time at which a sample of the job, or of its ranks, is due */
	nsec_t next, ranks_next;
	bool wants_ranks; /* in the request that is under way */
	/* The last sample was taken. The job remains until the directory has removed it. */
	bool is_done;
};

struct live {
	struct smap jobs; /* name -> struct live_job, owned */
	nsec_t started; /* wall time; later jobs are known from their beginning */
	uint64_t round;
	uint64_t refused; /* jobs beyond LIVE_JOBS_MAX */
	uint64_t strange; /* invalid entries of replies */
};

void live_init(struct live *l, nsec_t wall);
void live_done(struct live *l);

/* Reads the directory. Returns true if a job has begun or ended, so that a sample is due. */
bool live_scan(struct live *l, const struct directory *d);

/* True if a job runs, or its last sample is not made yet. */
bool live_has_work(const struct live *l);

/* Adds an answer to omig_job_sample(). */
void live_add(struct live *l, const struct reply *r, nsec_t wall);

/* Called before hosts are asked: later reports replace earlier ones. */
void live_ask(struct live_job *j);

/* Makes the sample of the job, valid until the next call about the job. */
void live_sample(struct live_job *j, nsec_t wall, struct history_job *out);

/* Sorts the ranks of a sample, before live_ranks(). Returns their number. */
size_t live_order_ranks(struct live_job *j);

/*
 * Writes at most HISTORY_RANKS_EACH_MAX of its ranks, starting with number `first`. The caller
 * frees out->rank and out->nodes. -ERR_NOMEM.
 */
int live_ranks(const struct live_job *j, const struct directory *d, size_t first,
	       struct history_ranks *out);

/* Ends the interval. */
void live_next(struct live_job *j);

#endif
