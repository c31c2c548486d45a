/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of a network in which some arcs take another time: all later events move. A join is as late
 * as the later of its sub-tasks, so waits shrink, vanish and appear. Nothing is subtracted.
 */
#ifndef INTERACTION_NETRETIME_H
#define INTERACTION_NETRETIME_H

#include "interaction/netpath.h"

struct netretime_change {
	uint32_t head;
	bool is_ending; /* the arc of the sub-task that ends at head */
	int64_t length; /* ns, >= 0; of a B-arc: work before it waits */
};

struct netretime {
	int64_t *t; /* owned; of each vertex, from the source's unchanged time */
	uint8_t *waits; /* owned; NETRETIME_OWN | NETRETIME_ENDING: B-arcs into each join */
	uint32_t vf;
	int64_t response;
	struct netpath path;
};
#define NETRETIME_OWN 1
#define NETRETIME_ENDING 2

void netretime_done(struct netretime *r);

/* ERR_INVALID: a negative length; ERR_LIMIT: a time of 2^63 ns or more; ERR_NOMEM. */
int netretime(const struct network *w, const struct netretime_change *change, size_t n,
	      struct netretime *out, struct err *e);

#endif
