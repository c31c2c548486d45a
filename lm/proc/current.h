/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that the threads of a process are in, their partners and durations. All is as far as it
 * can be known from outside. No hook needs to be on for it.
 */
#ifndef LM_PROC_CURRENT_H
#define LM_PROC_CURRENT_H

#include "lm/proc/proc.h"

/*
 * World rank of a peer in that call: of a communicator other than MPI_COMM_WORLD, and of any
 * source, it is CALL_PARTNER_UNKNOWN; of MPI_PROC_NULL it is CALL_PARTNER_NONE. own: of the
 * process.
 */
int32_t current_world_rank(const struct seg_own *own, const struct segview_current *c,
			   int32_t peer);

/* Handle of the call's communicator. Of a handle of 4 bytes the upper half is not defined: 0. */
uint64_t current_comm(const struct seg_own *own, const struct segview_current *c);

/*
 * Of the call's partner: of a Sendrecv the destination. CALL_PARTNER_UNKNOWN of a call that names
 * none.
 */
int32_t current_partner(const struct seg_own *own, const struct segview_current *c);

/* The same, but of a wait the partner of its requests, where that is one. */
int32_t current_awaited(const struct seg_own *own, const struct segview_current *c);

/* From which rank a call that sends also receives, as current_world_rank(); of any other call it
 * is CALL_PARTNER_UNKNOWN. */
int32_t current_source(const struct seg_own *own, const struct segview_current *c);

/* The tag that it receives then; -1: any, or it does not. */
int32_t current_source_tag(const struct segview_current *c);

/* The call is one of all ranks of MPI_COMM_WORLD, by its communicator. */
bool current_is_of_world(const struct seg_own *own, const struct segview_current *c);

enum current_state {
	CURRENT_IN,
	/* it calls MPI_Test, MPI_Iprobe or their kin again and again, in this one or between two */
	CURRENT_ASKS,
	CURRENT_OUT, /* its last call is over */
};

/* Between two calls that ask whether something has come may be so much: several looks. */
#define CURRENT_ASKS_NS (5 * NSEC_PER_SEC)

/* What one thread does now. */
struct current {
	struct segview_current call; /* that it is in, or was in last */
	uint32_t tid; /* as the process sees it */
	enum current_state state;
	nsec_t since; /* how long in that state */
	bool is_exact; /* else it is as long at least */
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

/* False: no call of that thread is known, or it has ended. */
bool current_get(struct proc *p, unsigned thread, const struct current_moment *now,
		 struct current *out);

/* NULL is fine. */
void current_free(struct proc_current *c);

#endif
