/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of nodes: a list in braces has the nodes that it uses for itself. All lists of a mainsm's
 * tools begin here and queue in one row. Two lists conflict when they share a node and one of them
 * is locked. A list begins when no earlier list that still runs conflicts with it. It waits for all
 * its nodes at once, so no wrong order of locks is possible. An unlocked list does not overtake an
 * earlier locked one on a shared node: no list waits for ever.
 *
 * A list waits no longer than its deadline. While none is locked, nothing is checked.
 */
#ifndef MAINSM_TOOL_LOCKS_H
#define MAINSM_TOOL_LOCKS_H

#include "tree/executor.h"

#define LOCKS_WAITING_MAX 1024 /* lists that wait; all are checked when one ends */

struct locks;
struct loop;

/* Both are borrowed. NULL: no memory. */
struct locks *locks_new(struct loop *l, struct executor *x);

/* All lists must be over or cancelled. */
void locks_free(struct locks *l);

/*
 * As executor_run(), at once or later; at once for a question about the outcome of another. The
 * reply reports a deadline that passes first, and a list too many.
 */
int locks_run(struct locks *l, struct omis_request **request, const struct run_spec *spec,
	      struct err *e);

/* As executor_cancel(), for lists that run and those that wait. */
void locks_cancel(struct locks *l, struct list *owner);

size_t locks_waiting(const struct locks *l);

#endif
