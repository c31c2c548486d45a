/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of nodes: a list in braces has exclusive use of its nodes. All lists of a mainsm's tools
 * begin here, in one queue. Two lists conflict if they share a node and one of them is locked. A
 * list begins when it conflicts with no earlier list that still runs. It waits for all its nodes at
 * once, so no order of locks can cause a deadlock. An unlocked list does not overtake an earlier
 * locked one on a shared node: no list starves. A list waits no longer than its deadline. While no
 * list is locked, nothing is checked.
 */
#ifndef MAINSM_TOOL_LOCKS_H
#define MAINSM_TOOL_LOCKS_H

#include "tree/executor.h"

#define LOCKS_WAITING_MAX 1024 /* lists that wait; all are checked when one ends */

struct locks;
struct loop;

/* Both are borrowed. Returns NULL without memory. */
struct locks *locks_new(struct loop *l, struct executor *x);

/* All lists must have ended or been cancelled. */
void locks_free(struct locks *l);

/*
 * As executor_run(), at once or later; at once for a question about the outcome of another request.
 * The reply reports a missed deadline or too many lists.
 */
int locks_run(struct locks *l, struct omis_request **request, const struct run_spec *spec,
	      struct err *e);

/* As executor_cancel(), for running and waiting lists. */
void locks_cancel(struct locks *l, struct list *owner);

size_t locks_waiting(const struct locks *l);

#endif
