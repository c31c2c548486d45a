/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a conditional request (csr) over the branches on which its event can occur. Each branch
 * gets the request with those objects of the event that are below it. The actions keep their text
 * and are expanded when the event happens. The leading ones that the lm can run itself are counted.
 */
#ifndef COMMON_ROUTE_ARM_H
#define COMMON_ROUTE_ARM_H

#include "common/route/plan.h"

struct arm_part {
	uint32_t branch;
	uint32_t nobject;
	const char *text; /* for omis_parse_inner() */
	size_t ntext;
	/*
	 * Number of leading actions that need only this branch and the event: their objects are
	 * $node, $proc, $thread, or objects below this branch. An sm counts again for its lms, and
	 * the smaller number applies. For a list in braces, only predicates and actions in the rank
	 * count.
	 */
	uint32_t local_prefix;
};

struct arm;

/*
 * r is checked and has an event. Event objects that do not exist become entries of action 0 in
 * `into`; unreachable ones are missing there. A user event (AT_TOP) has no parts, because it occurs
 * at mainsm. Fails with ERR_NOMEM, ERR_LIMIT.
 */
int arm_new(const struct omis_request *r, const struct route_view *view, struct reply *into,
	    struct arm **out, struct err *e);
void arm_free(struct arm *a);

/*
 * Returns the parts in the order of the event's objects; NULL beyond the last one. Valid until
 * arm_free().
 */
const struct arm_part *arm_part_at(const struct arm *a, size_t i);

#endif
