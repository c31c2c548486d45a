/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Critical paths of a built network, in linear time: backwards from the last sink, at each join
 * along the arc that is not a B-arc. Source: Ashton and Penny, TR COSC 01/91, sections 4.2, 4.3.
 */
#ifndef INTERACTION_NETPATH_H
#define INTERACTION_NETPATH_H

#include "interaction/network.h"

#define NETPATH_NEAR_MAX 1000 /* near-critical paths of one request; a user compares some ten */

struct netpath_step {
	uint32_t v;
	bool is_ending; /* reached on the arc of the sub-task that ends at v */
};

struct netpath {
	struct netpath_step *step; /* owned; from the source to the last sink */
	size_t n;
	int64_t length; /* ns; of the critical path: the response time */
	bool is_unique;
};

void netpath_done(struct netpath *p);

/* The critical path. ERR_NOMEM. */
int netpath_find(const struct network *w, struct netpath *out, struct err *e);

/* Returns time(vf) - time(v0). */
int64_t netpath_response(const struct network *w);

/*
 * Returns the time by which the other arc of a join may grow before the join is later: the wait of
 * its sub-task. 0 when no sub-task waited.
 */
int64_t netpath_slack(const struct network *w, uint32_t join);

/*
 * Finds the k longest paths from the source to the last sink, the critical path first; B-arcs have
 * no length. *n <= k; the caller frees each with netpath_done(), and the array. ERR_INVALID: k;
 * ERR_NOMEM. O(k * (path + k)).
 */
int netpath_near(const struct network *w, size_t k, struct netpath **out, size_t *n, struct err *e);

#endif
