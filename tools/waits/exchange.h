/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication between the ranks of a job and their partners between two moments: the sums of
 * omig_calls_read. Only pairs that occur are stored.
 */
#ifndef TOOLS_WAITS_EXCHANGE_H
#define TOOLS_WAITS_EXCHANGE_H

#include "tools/libomis/omis.h"
#include "tools/view/top.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The flags of omig_calls_read: functions, and partners. */
#define EXCHANGE_FLAGS 2

/* Calls of one function, by this rank with one partner. */
struct exchange_pair {
	unsigned func; /* of common/ring/calls.h */
	int32_t partner; /* rank in the job; CALL_PARTNER_UNKNOWN; CALL_PARTNER_ALL */
	double count, bytes_out, bytes_in;
	/*
	 * seconds: certainly for this partner; its part of divided time; upper bound; so far in
	 * open calls
	 */
	double certain, shared, possible, open;
	uint32_t kinds; /* SEG_FOR_X */
	int32_t tag; /* -1 any or none; SEG_TAG_SEVERAL */
};

struct exchange_call {
	unsigned func;
	double count, seconds; /* open calls with their seconds so far */
	double bytes; /* out and in; 0 if volumes are not counted */
};

struct exchange_rank {
	char token[TOP_TOKEN_BYTES];
	int32_t rank;
	double seconds; /* between the two moments; in a sample: the time of the monitor */
	struct exchange_pair *pair; /* owned; ascending by function and partner */
	size_t npair, pair_cap;
	struct exchange_call *call; /* owned; ascending by function */
	size_t ncall, call_cap;
	double lost; /* calls whose partner did not fit */
};

/* The messages of one job. */
struct exchange {
	char job[TOP_NAME_BYTES];
	int64_t world_size;
	struct exchange_rank *rank; /* owned; ascending */
	size_t n, cap;
	bool failed; /* no memory */
};

void exchange_done(struct exchange *x);

/*
 * Reads entries of omig_calls_read(..., EXCHANGE_FLAGS), for the ranks of s in that job. Skips
 * invalid values. False: no memory; *x is empty.
 */
bool exchange_read(struct exchange *x, const struct top_sample *s, const char *job,
		   const Omis_object_result *entries);

/* Computes out = now - before, for the ranks in both. False: no memory; *out is empty. */
bool exchange_difference(struct exchange *out, const struct exchange *before,
			 const struct exchange *now);

/* False: no rank of `now` has run since `before`, as after the end of the job. */
bool exchange_has_moved(const struct exchange *before, const struct exchange *now);

/* Returns NULL if the rank is not below the size of the world. */
const struct exchange_rank *exchange_find(const struct exchange *x, int64_t rank);

#endif
