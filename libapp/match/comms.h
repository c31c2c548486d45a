/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators of a process by their handles, with the ids that all of their processes know. One
 * thread at a time changes the table; any may search it meanwhile.
 */
#ifndef LIBAPP_MATCH_COMMS_H
#define LIBAPP_MATCH_COMMS_H

#include "libapp/match/key.h"

#pragma GCC visibility push(hidden)

/* MPI libraries limit communicators to some thousands; programs have dozens. A power of two. */
#define MATCH_COMMS 1024

struct match_comm {
	uintptr_t handle; /* 0: free */
	uint64_t id;
	uint64_t made; /* number of calls that made communicators from it */
	uint64_t met; /* number of collective calls */
};

struct match_comms {
	struct match_comm comm[MATCH_COMMS];
};

/* Replaces an earlier meaning of the handle. Returns false if there is no room. */
bool match_comm_put(struct match_comms *t, uintptr_t handle, uint64_t id);

/* Returns NULL if it is not known. Valid until the next call of this header. */
struct match_comm *match_comm_find(struct match_comms *t, uintptr_t handle);

/* Removes the entry: the handle is free, or names another communicator. */
void match_comm_drop(struct match_comms *t, uintptr_t handle);

#pragma GCC visibility pop

#endif
