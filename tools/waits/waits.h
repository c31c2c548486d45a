/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which rank waits for which, from an exchange. The time of a call with one partner is
 * certain. A call that waits for requests of several partners ends with the last of them. MPI does
 * not report which one that was. Its time is divided among the partners in proportion to their
 * lateness. A partner's lateness is the time by which it is less in MPI than the median rank. Such
 * time is `inferred`, and has a bound.
 */
#ifndef TOOLS_WAITS_WAITS_H
#define TOOLS_WAITS_WAITS_H

#include "tools/waits/exchange.h"

#define WAITS_LEAST 0.02 /* a smaller share of a rank's time is not worth a line */

/* The time for which `rank` waits for `partner`, in all calls together. */
struct waits_edge {
	int32_t rank, partner; /* partner: a rank, or CALL_PARTNER_UNKNOWN or CALL_PARTNER_ALL */
	double seconds, inferred; /* inferred is part of seconds */
	double least, most; /* the truth lies between */
	double share; /* of the rank's time */
	unsigned func; /* with most of the time, */
	uint32_t kinds; /* and what that waited for */
	int32_t tag;
	double func_seconds;
};

/* Blocking calls that ranks make together. */
struct waits_collective {
	unsigned func;
	double seconds, share; /* of all ranks; of all their time */
	int32_t worst; /* the rank with most time in it */
	double worst_seconds, worst_share;
	/*
	 * the rank that was most often last, inferred from the least time in the call; -1: unknown.
	 * The waits of the others for it
	 */
	int32_t last;
	double waited;
};

struct waits {
	const struct exchange *x; /* borrowed */
	struct waits_edge *edge; /* owned; most seconds first */
	size_t nedge, edge_cap;
	struct waits_collective *collective; /* owned; most seconds first */
	size_t ncollective, collective_cap;
	double seconds; /* of the longest-observed rank */
	double rank_seconds; /* of all ranks together */
	/* calls that wait for other ranks, and their time, of all ranks; of that time what is
	 * inferred, and what is for partners that are unknown */
	double calls, waited, inferred, unknown;
	/* the rank that is waited for most, -1: no rank waits enough. Seconds of how many ranks,
	 * most of them in that call (func < 0: in a collective, then `collective` has it) */
	int32_t most;
	double most_seconds;
	size_t most_ranks;
	const struct waits_edge *most_edge; /* largest edge; NULL: collectives have more */
	const struct waits_collective *most_collective;
	double lost; /* calls whose partner did not fit */
	bool failed;
};

/* False: no memory; *w is empty. x must outlive w. */
bool waits_make(struct waits *w, const struct exchange *x);
void waits_done(struct waits *w);

/* --- for its parts */

/* waits_collective.c. False: no memory. */
bool waits_collectives(struct waits *w);

#endif
