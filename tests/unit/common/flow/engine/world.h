/* SPDX-License-Identifier: Apache-2.0 */
/* An engine whose results are recorded. */
#ifndef TESTS_COMMON_FLOW_WORLD_H
#define TESTS_COMMON_FLOW_WORLD_H

#include "common/flow/engine/flow.h"

#define SECOND NSEC_PER_SEC
#define START (100 * SECOND)
#define WORLD_RESULTS_MAX 4096

struct world {
	struct flow *f;
	struct flow_result r[WORLD_RESULTS_MAX]; /* a: not kept */
	size_t n;
};

void world_init(struct world *w);
void world_done(struct world *w);

/* Loads at START; the graph is freed. */
void world_load(struct world *w, struct flow_graph *g);

struct world_value {
	int64_t key;
	double v;
	nsec_t time;
};

/* A token of one contributor into node `number` of measurement m. */
void world_push(struct world *w, uint32_t m, uint32_t number, struct world_value v);
void world_read(struct world *w, uint32_t m, int64_t read);

/* The last result of that output; fails without one. */
const struct flow_token *world_last(const struct world *w, uint32_t m, uint32_t output);

/* Exact but for rounding; NAN: it has no value. */
void token_is(const struct flow_token *t, double value, uint32_t k, uint32_t n, uint32_t flags);

struct flow_counts world_counts(const struct world *w, uint32_t m, uint32_t number);

#endif
