/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache per thread of facts about communicators and windows. It does not change the user's
 * objects (no attributes, no duplicates). MPI reuses handles, so freeing any communicator or window
 * empties all caches.
 */
#ifndef LIBAPP_HOT_COMM_H
#define LIBAPP_HOT_COMM_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* distinct neighbours: 128 dimensions; further ones count as processes */
#define COMM_NEIGHBOURS 256

struct comm_facts {
	uintptr_t key; /* handle */
	uint32_t generation;
	bool win, inter;
	int rank, size; /* of the own group */
	int peers; /* the remote group's size for an intercommunicator, else size */
	/*
	 * neighbours: blocks of a buffer, and how many of them belong to processes; sources.blocks
	 * -1: not read yet
	 */
	struct comm_side {
		int blocks, real;
		uint64_t null[COMM_NEIGHBOURS / 64]; /* bits: the neighbour is MPI_PROC_NULL */
	} sources, destinations;
};

static inline bool comm_is_null(const struct comm_side *s, int i)
{
	return i < COMM_NEIGHBOURS && s->null[i / 64] >> (i % 64) & 1;
}

/* Returns NULL if the handle is not usable. Valid until the thread's next call of comm_find(). */
const struct comm_facts *comm_find(uintptr_t handle, bool win);

/* Fills sources and destinations. */
const struct comm_facts *comm_neighbours(uintptr_t comm);

/* Returns the world rank of a rank of comm (or of win's group); -1 if there is none. */
int64_t comm_world_rank(uintptr_t handle, bool win, int64_t rank);

void comm_forget_all(void);

/* Changes whenever a communicator or window may have been freed. */
uint32_t comm_generation(void);

/* Opened at set-up, closed in MPI_Finalize: afterwards only MPI_COMM_WORLD is translated. */
void comm_open(void);
void comm_close(void);

#pragma GCC visibility pop

#endif
