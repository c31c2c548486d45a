/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by live.c (jobs) and live_add.c (answers of hosts). */
#ifndef MAINSM_HISTORY_LIVE_INTERNAL_H
#define MAINSM_HISTORY_LIVE_INTERNAL_H

#include "common/omis/text/token.h"
#include "mainsm/history/live.h"

/* Totals of a function on a host. */
struct live_call {
	char *name; /* owned */
	int64_t v[4]; /* count, delay_ns, bytes_out, bytes_in */
};

enum { RANK_CPU, RANK_CALLS, RANK_OUT, RANK_IN, RANK_DELAYS };
#define RANK_TOTALS (RANK_DELAYS + CALL_CLASSES)

/* Totals of a rank at the last sample of ranks. */
struct live_total {
	int64_t rank, pid, counts;
	double v[RANK_TOTALS];
};

/* A rank in the current sample. */
struct live_rank {
	int64_t rank;
	const struct live_part *part;
	float value[HISTORY_COLUMNS];
};

/* A host of a job. */
struct live_part {
	struct list in_parts;
	char node[TOKEN_BYTES];
	bool is_known; /* an answer has arrived */
	bool has_base; /* cpu_s and the lists hold the values of an earlier sample */
	double cpu_s;
	struct live_call *call; /* owned */
	size_t ncall, cap;
	struct live_total *rank; /* owned */
	size_t nrank, rank_cap;
	nsec_t ranks_at; /* wall; 0: never */
};

#endif
