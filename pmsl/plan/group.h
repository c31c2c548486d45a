/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of a set by their origin, so that each piece below takes only its own inputs. */
#ifndef PMSL_PLAN_GROUP_H
#define PMSL_PLAN_GROUP_H

#include "pmsl/plan/bound.h"

/* The inputs of a set from one place a level below, in the order of the set. */
struct group {
	struct place at;
	uint32_t *in; /* of all->in */
	size_t n;
	bool is_gathered;
};

struct groups {
	struct group *v;
	size_t n, cap;
	uint32_t *of; /* of each input, the group + 1; 0: it is at `here`, or not within */
	uint32_t *in;
};

/* -ERR_NOMEM; call groups_done() in any case. */
int groups_make(struct groups *all, const struct bound *b, const struct bound_node *set,
		struct place here);
void groups_done(struct groups *all);

/* Returns the group of input i; NULL: it is in none. */
struct group *groups_of(const struct groups *all, size_t i);

#endif
