/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of messages that need no byte in the message. Both ends of an MPI message know its channel:
 * communicator, world ranks of source and destination, tag. Messages of one channel do not overtake
 * each other (MPI 4.0, section 3.5). So a message has the same number k in its channel at both
 * ends. A hash of channel and k is its id. It names the sub-task of the message in an interaction
 * network (Ashton and Penny, TR COSC 01/91, section 3.3).
 *
 * The functions of this room have no lock, and obey the rules of libapp/hot/hook.h.
 */
#ifndef LIBAPP_MATCH_KEY_H
#define LIBAPP_MATCH_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define MATCH_ANY INT32_MIN /* in place of a source or tag that a receive leaves open */

struct match_channel {
	uint64_t comm; /* id of the communicator: the same in all of its processes */
	int32_t source, dest; /* ranks in MPI_COMM_WORLD */
	int32_t tag;
};

/* Never 0. Two channels have one key with a probability of 2^-64. */
uint64_t match_key(const struct match_channel *c);

/* Returns the id of message k of a channel, k from 1 on: 1 to INT64_MAX, as logs have numbers. */
uint64_t match_id(uint64_t key, uint64_t k);

/*
 * Ids of communicators. A job's name and a number make those of MPI_COMM_WORLD and MPI_COMM_SELF.
 * Call number `call` of all calls that make communicators from a parent makes a child. A split
 * makes several at once: the world rank of their first process distinguishes them.
 */
uint64_t match_comm_first(const char *job, uint32_t number);
uint64_t match_comm_child(uint64_t parent, uint64_t call, int32_t first_rank);

/* --- the last numbers of channels; a table without removal */

/* A job of 1024 ranks with eight tags. Further channels are not recorded, and counted. */
#define MATCH_CHANNELS 8192 /* a power of two */

struct match_count {
	uint64_t key; /* 0: free */
	uint64_t n; /* messages so far */
};

struct match_table {
	uint64_t lost; /* messages of channels that found no room */
	struct match_count count[MATCH_CHANNELS];
};

/* Returns NULL if there is no room, and counts. */
struct match_count *match_find(struct match_table *t, uint64_t key);

#pragma GCC visibility pop

#endif
