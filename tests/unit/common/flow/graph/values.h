/* SPDX-License-Identifier: Apache-2.0 */
/* Random values, and an aggregate of them that was split and merged at random. */
#ifndef TESTS_UNIT_COMMON_FLOW_GRAPH_VALUES_H
#define TESTS_UNIT_COMMON_FLOW_GRAPH_VALUES_H

#include "common/base/rng.h"
#include "common/flow/graph/agg.h"

#include <stddef.h>

#define VALUES_MAX 3000

struct values {
	double v[VALUES_MAX], error[VALUES_MAX];
	size_t n;
};

/*
 * Family 0 to 4: of very different sizes and both signs, some zeros; 4 has infinite ones. Some have
 * an error that is not 0.
 */
void some_values(struct values *w, struct rng *r, unsigned family);

struct bag {
	struct agg a;
	struct sketch sketch;
};

void bag_init(struct bag *b, enum agg_kind kind);

/* All values, split at random and merged along a random tree. */
void values_fold(struct bag *out, const struct values *w, enum agg_kind kind, struct rng *r);

/* It becomes what hosts send and others merge, through the bytes of a batch. */
void values_send(struct agg *a);

/* The sum of the sizes: the scale of rounding in a sum. */
double values_size(const struct values *w);

/* Asserts that got is within the bound of want, or that neither is a number. */
void near(double got, double want, double bound);

#endif
