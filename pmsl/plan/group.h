/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of a set by the place that they come from: each piece below gets only its own. */
#ifndef PMSL_PLAN_GROUP_H
#define PMSL_PLAN_GROUP_H

#include "pmsl/plan/bound.h"

/* The inputs of a set from one place a level below, in the order of the set. */
struct group {
	struct place at;
	uint32_t *in; /* part of `in` of struct groups */
	size_t n;
	bool is_gathered;
};

struct groups {
	struct group *v;
	size_t n, cap;
	uint32_t *of; /* by input: its group + 1; 0 = the input is at `here`, or is not within it */
	uint32_t *in;
};

/* Fails with ERR_NOMEM only. The caller calls groups_done() after a failure, too. */
int groups_make(struct groups *all, const struct bound *b, const struct bound_node *set,
		struct place here);
void groups_done(struct groups *all);

/* Returns the group of input i; NULL if it is in none. */
struct group *groups_of(const struct groups *all, size_t i);

#endif
