/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a path, divided by the objects in use at once, by declared state, and by sub-task.
 * Source: Ashton and Penny, TR COSC 01/91, section 5.
 */
#ifndef INTERACTION_NETSPENT_H
#define INTERACTION_NETSPENT_H

#include "interaction/netpath.h"

struct netspent_part {
	uint32_t of; /* a use (a shape), or a sub-task */
	int64_t ns;
};

struct netspent {
	/* owned; disjoint, the sum is the length of the critical path; the longest first */
	struct netspent_part *use;
	size_t nuse;
	struct netspent_part *task; /* owned; in the order of the path */
	size_t ntask;
	int64_t state[NETUSE_STATES_MAX]; /* of each declared state; they may overlap */
	bool is_member; /* an alternative holds anywhere in the network */
};

void netspent_done(struct netspent *s);

/* ERR_NOMEM. O(path + vertices). */
int netspent_find(const struct network *w, const struct netpath *p, struct netspent *out,
		  struct err *e);

#endif
