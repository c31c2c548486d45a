/* SPDX-License-Identifier: Apache-2.0 */
/* A job's exchange, read from replies of omig_calls_read as daemons send them. */
#ifndef TESTS_UNIT_TOOLS_WAITS_PLANTED_H
#define TESTS_UNIT_TOOLS_WAITS_PLANTED_H

#include "common/ring/calls.h"
#include "common/ring/seg.h"
#include "tests/suite.h"
#include "tools/waits/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLANTED_RANKS 4
#define SEC "000000000" /* of nanoseconds */

static struct top_rank planted_rank[PLANTED_RANKS];
static struct top_sample planted_sample = { .rank = planted_rank, .nrank = PLANTED_RANKS };

static inline void planted_world(void)
{
	for (int i = 0; i < PLANTED_RANKS; i++) {
		struct top_rank *r = &planted_rank[i];

		*r = (struct top_rank){ .rank = i, .world_size = PLANTED_RANKS };
		snprintf(r->token, sizeof(r->token), "p_%d", i);
		snprintf(r->job, sizeof(r->job), "heat");
	}
}

/* value[i]: of rank i; NULL: it does not answer. */
static inline void planted_read(struct exchange *x, const char *const value[PLANTED_RANKS])
{
	Omis_object_result e[PLANTED_RANKS + 1] = { 0 };
	size_t n = 0;

	planted_world();
	for (int i = 0; i < PLANTED_RANKS; i++) {
		if (!value[i])
			continue;
		e[n].obj_list = strdup(planted_rank[i].token);
		e[n].status = OMIS_OK;
		e[n].result = strdup(value[i]);
		e[n].result_len = strlen(value[i]);
		n++;
	}
	ck_assert(exchange_read(x, &planted_sample, "heat", e));
	for (size_t i = 0; i < n; i++) {
		free(e[i].obj_list);
		free(e[i].result);
	}
}

/*
 * The difference between an exchange without messages and one with these values, ten seconds
 * later.
 */
static inline void planted_between(struct exchange *out, const char *const value[PLANTED_RANKS])
{
	static const char *const nothing[PLANTED_RANKS] = { "1" SEC, "1" SEC, "1" SEC, "1" SEC };
	struct exchange before, now;

	planted_read(&before, nothing);
	planted_read(&now, value);
	ck_assert(exchange_difference(out, &before, &now));
	exchange_done(&before);
	exchange_done(&now);
}

/*
 * A chain of ranks of which rank 2 is late, 0 - 1 - 2 - 3. The neighbours of rank 2 wait 6 s for
 * it, of which rank 1 cannot be sure: MPI_Waitall of requests to 0 and 2. Rank 0 waits for rank 1.
 */
static const char *const planted_chain[PLANTED_RANKS] = {
	"11" SEC ",[\"MPI_Waitall\",\"wait\",100,6" SEC ",0,0,0],"
	"[\"MPI_Waitall\",1,100,0,0,6" SEC ",0,0,0,1,7]",
	"11" SEC ",[\"MPI_Waitall\",\"wait\",100,6" SEC ",0,0,0],"
	"[\"MPI_Waitall\",0,100,0,0,0,3" SEC ",6" SEC ",0,1,7],"
	"[\"MPI_Waitall\",2,100,0,0,0,3" SEC ",6" SEC ",0,1,7]",
	"11" SEC ",[\"MPI_Waitall\",\"wait\",100,10000000,0,0,0],"
	"[\"MPI_Waitall\",1,100,0,0,0,5000000,10000000,0,1,7],"
	"[\"MPI_Waitall\",3,100,0,0,0,5000000,10000000,0,1,7]",
	"11" SEC ",[\"MPI_Waitall\",\"wait\",100,6" SEC ",0,0,0],"
	"[\"MPI_Waitall\",2,100,0,0,5" SEC ",0,0,1" SEC ",1,-2]",
};

#endif
