/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small world for planning: nodes below branches, processes on nodes,
 * threads in processes, counters on some branches; each may be attached or
 * not, and nodes may be out of reach.
 */
#ifndef TESTS_UNIT_COMMON_ROUTE_WORLD_H
#define TESTS_UNIT_COMMON_ROUTE_WORLD_H

#include "common/omis/omis.h"
#include "common/route/route.h"

#define WORLD_THINGS 512

struct thing {
	struct token token;
	int parent; /* index; -1 for sites and for what is in no other */
	bool attached, gone, ended;
	const char *unreachable; /* reason, or NULL */
	uint64_t branches; /* of a counter: bit k = it is below branch k */
	uint32_t branch; /* of anything else */
};

struct world {
	struct thing v[WORLD_THINGS];
	int n;
	struct route_view view; /* of this world */
	int expansions, lifts; /* how often the view was asked */
	int deny_at; /* the expansion that fails with -ERR_NOMEM; 0 = none */
};

void world_init(struct world *w, uint32_t nbranch);

/* Index of the new thing; attached. */
int world_add(struct world *w, const char *token, int parent, uint32_t branch);
struct thing *world_find(struct world *w, const char *token, size_t n);

/*
 * Two branches:
 *
 *  s_1 { n_1 { p_1_000001 { t_1_000001 } p_1_000002 } n_2 { p_2_000001 } }
 *  s_2 { n_3 { p_3_000001 } }
 *
 * n_1 and n_2 are below branch 0, n_3 below branch 1.
 */
void world_small(struct world *w);

/* Parsed and checked; the test fails when it is wrong. */
struct omis_request *world_request(const char *text);

/* Entries as "1 'n_1' OK '5'; ...", coverage as " 2/3 missing n_1 (silent)". The caller frees. */
char *world_show(const struct reply *r);

#endif
