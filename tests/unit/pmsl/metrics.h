/* SPDX-License-Identifier: Apache-2.0 */
/* Random metrics and random logs, of two sites of two nodes of two processes. */
#ifndef TESTS_UNIT_PMSL_METRICS_H
#define TESTS_UNIT_PMSL_METRICS_H

#include "common/base/buf.h"
#include "common/base/rng.h"
#include "pmsl/plan/world.h"
#include "tests/unit/pmsl/walk.h"

enum metrics_kind {
	METRICS_OF_VT, /* a fold over processes, then one over virtual times */
	METRICS_OF_PROCESSES, /* the other way round */
	METRICS_OF_BOTH, /* one over both */
	METRICS_OF_READS,
};

struct metrics_shape {
	enum metrics_kind kind;
	const char *inner, *outer; /* names of the folds */
};

const struct world *metrics_world(void);
unsigned metrics_rank(const char *token);
uint32_t metrics_node(unsigned rank); /* its object in the world */

void metrics_log(struct rng *rng, struct walk_log *story);

/* Appends a text with the metric M(Process[], VirtualTime[], TimeInterval): numbers only, so that
 * units fit. */
struct metrics_shape metrics_say(struct rng *rng, struct buf *b);

/* Its values since the last read add up to its value since the start. */
bool metrics_adds_up(const struct metrics_shape *shape);

/* The value of an input for event vt of process p. */
double metrics_value(const struct walk_log *story, const struct flow_source *s, unsigned p,
		     unsigned vt);

#endif
