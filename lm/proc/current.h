/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current calls of a process's threads, with partners and durations, as far as they are visible
 * from outside. No hook needs to be on.
 */
#ifndef LM_PROC_CURRENT_H
#define LM_PROC_CURRENT_H

#include "lm/proc/proc.h"

/*
 * Returns the world rank of a peer in that call. For any source, or a communicator other than
 * MPI_COMM_WORLD, it is CALL_PARTNER_UNKNOWN. For MPI_PROC_NULL it is CALL_PARTNER_NONE. own: of
 * the process.
 */
int32_t current_world_rank(const struct seg_own *own, const struct segview_current *c,
			   int32_t peer);

/*
 * Returns the handle of the call's communicator. The upper half of a 4-byte handle is undefined and
 * becomes 0.
 */
uint64_t current_comm(const struct seg_own *own, const struct segview_current *c);

/*
 * Returns the call's partner; for a Sendrecv the destination. CALL_PARTNER_UNKNOWN if it names
 * none.
 */
int32_t current_partner(const struct seg_own *own, const struct segview_current *c);

/* The same, but for a wait the partner of its requests, if there is only one. */
int32_t current_awaited(const struct seg_own *own, const struct segview_current *c);

/*
 * Returns the source rank of a call that sends and receives, as current_world_rank(). For any other
 * call it is CALL_PARTNER_UNKNOWN.
 */
int32_t current_source(const struct seg_own *own, const struct segview_current *c);

/* Returns the tag with which it receives; -1: any, or it does not receive. */
int32_t current_source_tag(const struct segview_current *c);

/* True if the call involves all ranks of MPI_COMM_WORLD, by its communicator. */
bool current_is_of_world(const struct seg_own *own, const struct segview_current *c);

enum current_state {
	CURRENT_IN,
	/* Calls MPI_Test, MPI_Iprobe or similar repeatedly; now inside or between two calls. */
	CURRENT_ASKS,
	CURRENT_OUT, /* the last call is over */
};

/* Largest gap between two such test calls: several polls. */
#define CURRENT_ASKS_NS (5 * NSEC_PER_SEC)

/* The current activity of one thread. */
struct current {
	struct segview_current call; /* current call, or last call */
	uint32_t tid; /* tid as the process sees it */
	enum current_state state;
	nsec_t since; /* how long in that state */
	bool is_exact; /* exact; else a lower bound */
	int32_t partner; /* as current_partner() */
};

/* Notes how long threads are in their calls, as far as samples show. */
void current_sample(struct proc *p, nsec_t now);

/* A moment in the clocks of the loop and of a process. */
struct current_moment {
	nsec_t time;
	uint64_t ticks;
	const struct ticks_scale *scale; /* of the ticks */
};

/* Returns false if no call of that thread is known, or it has ended. */
bool current_get(struct proc *p, unsigned thread, const struct current_moment *now,
		 struct current *out);

/* NULL is fine. */
void current_free(struct proc_current *c);

#endif
