/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may be active where: a list in braces has the nodes that it touches for itself.
 * All lists of a mainsm's tools begin here, so they queue in one row: a list begins
 * when no earlier one that is not over stands against it, that is, touches a node of its own
 * while one of the two is locked. It waits for all its nodes at once, which leaves
 * nothing to be locked in the wrong order, and an unlocked list that comes after a
 * locked one does not overtake it on a node of both: nobody waits for ever.
 *
 * A list waits no longer than its deadline. While none is locked nothing is looked at.
 */
#ifndef MAINSM_TOOL_LOCKS_H
#define MAINSM_TOOL_LOCKS_H

#include "tree/executor.h"

#define LOCKS_WAITING_MAX 1024 /* lists that wait; looked at whenever one ends */

struct locks;
struct loop;

/* Both are borrowed. NULL: no memory. */
struct locks *locks_new(struct loop *l, struct executor *x);

/* All lists must be over or cancelled. */
void locks_free(struct locks *l);

/*
 * As executor_run(), at once or later; at once what only asks for the outcome of another. A
 * deadline that passes first, and a list too many, are told in the reply.
 */
int locks_run(struct locks *l, struct omis_request **request, const struct run_spec *spec,
	      struct err *e);

/* As executor_cancel(), for lists that run and those that wait. */
void locks_cancel(struct locks *l, struct list *owner);

size_t locks_waiting(const struct locks *l);

#endif
