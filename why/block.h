/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block: the figures of all ranks of a job for a piece of its time, as the caller has gathered
 * them. Differences of counters, not counters. Unknown figures are NaN, never 0.
 */
#ifndef WHY_BLOCK_H
#define WHY_BLOCK_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes of MPI calls, by the rule that separates waiting from working in them. */
enum why_class {
	WHY_BARRIER,
	/* allreduce, alltoall, allgather, reduce_scatter, scan, and their v, w and i forms */
	WHY_NXN,
	WHY_FROM_ROOT, /* bcast, scatter(v) */
	WHY_TO_ROOT, /* reduce, gather(v) */
	WHY_SEND,
	WHY_RECEIVE,
	WHY_WAIT, /* completes requests */
	WHY_RMA,
	WHY_RMA_SYNC,
	WHY_FILE,
	WHY_OTHER,
	WHY_CLASSES
};

/* Figures of a rank in a block. */
enum why_figure {
	WHY_COMPUTE, /* processor seconds, those in MPI calls included */
	WHY_RUN_DELAY, /* seconds ready without a processor */
	WHY_SWITCHES, /* involuntary context switches */
	WHY_FAULTS, /* major page faults */
	WHY_BLOCK_DELAY, /* seconds blocked on disk */
	WHY_FIGURES
};

/* Figures of a host, means of the block where no other unit is given. */
enum why_host_figure {
	WHY_PROCESSORS, /* number */
	WHY_BUSY, /* processors busy */
	WHY_FOREIGN, /* processors busy, and not with ranks of this job */
	WHY_STEAL, /* processors that the hypervisor withheld */
	WHY_THROTTLED, /* seconds of the block in which a cgroup was throttled */
	WHY_FREQUENCY, /* Hz */
	WHY_CPU_PRESSURE, /* share of the time in which some task waited, in [0, 1] */
	WHY_MEMORY_PRESSURE,
	WHY_IO_PRESSURE,
	WHY_HOST_FIGURES
};

struct why_rank {
	int32_t rank; /* in MPI_COMM_WORLD; ranks of a block ascend */
	uint32_t host; /* index into the hosts of the block; the same host in all blocks */
	double seconds; /* of this rank in the block; 0: nothing is known of the rank */
	double delay[WHY_CLASSES]; /* seconds in calls of the class */
	double calls[WHY_CLASSES];
	double bytes[WHY_CLASSES];
	double figure[WHY_FIGURES];
};

struct why_host {
	double figure[WHY_HOST_FIGURES];
};

/* `from` waited for `to` between `least` and `most` seconds. */
struct why_pair {
	int32_t from, to; /* ranks of the block */
	bool is_send; /* it waited in sends, until `to` received; otherwise for messages of `to` */
	double least, most;
	double messages, bytes; /* from `to` to `from` */
};

/*
 * The wait of a rank at collectives of a class, from instances that were compared one by one. It
 * replaces the lower bound from totals (docs/why.md). Sampled instances are scaled up to all.
 */
struct why_wait {
	int32_t rank;
	enum why_class class; /* WHY_BARRIER .. WHY_TO_ROOT */
	double seconds;
	double last; /* instances to which this rank came last */
	double instances; /* of all, in which this rank took part */
};

/* All pointers are borrowed. A member that is all zeros means none. */
struct why_block {
	nsec_t begin, end; /* end > begin >= end of the block before */
	const struct why_rank *rank;
	size_t nrank;
	const struct why_host *host;
	size_t nhost;
	const struct why_pair *pair; /* none: not known */
	size_t npair;
	const struct why_wait *wait; /* none: not known */
	size_t nwait;
	int64_t world_size; /* ranks of the job, known or not */
};

/* Sets all figures of r to unknown. */
void why_rank_clear(struct why_rank *r, int32_t rank, uint32_t host);
void why_host_clear(struct why_host *h);

/*
 * Fails with ERR_INVALID and the place for a block that breaks a rule of this header: times,
 * order of ranks, indices, negative or infinite figures. Fails with ERR_LIMIT above the limits
 * WHY_RANKS_MAX, WHY_PAIRS_MAX.
 */
int why_block_check(const struct why_block *b, struct err *e);

#endif
