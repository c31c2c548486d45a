/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contraction of a part of a network: of the events that one daemon has, or of a site. The
 * result is a smaller network. One of its arcs replaces vertices and arcs that no event of another
 * host can change:
 *
 * 	- A stretch of a sub-task becomes one arc, with its times by objects in use.
 * 	- A fork is decided with the join that ends its sub-task, if both are in one sub-task here.
 * 	- A sub-task that ends before another one of the part cannot be the last: it is removed.
 * 	- The begin and the end of a use are removed when all events between them are in this part.
 *
 * Two events follow each other if they do so in the part that has the events themselves. Above,
 * events between them may be late: arcs that come contracted are certain, and others stay.
 *
 * The first and the last event that the part has of a sub-task stay. Others may be before and
 * behind them elsewhere. So the response time, states and membership are those of all events.
 * Source: Ashton and Penny, TR COSC 01/91, Figure 5, with the rules of docs/interactions.md.
 */
#ifndef INTERACTION_ONLINE_NETCONTRACT_H
#define INTERACTION_ONLINE_NETCONTRACT_H

#include "interaction/network.h"

/* Objects of states and alternatives: bits of a number beside a flag. */
#define NETCONTRACT_OBJECTS_MAX 63

struct netcontract_plan {
	bool is_lowest; /* the events were born here */
	/* true if the part before had this sub-task: it has earlier events elsewhere. Or NULL. */
	bool (*is_known)(void *arg, uint64_t task);
	void *arg;
};

/*
 * Takes an event of the result, which is valid during the call. Any value but 0 ends the
 * contraction and is returned.
 */
typedef int (*netcontract_fn)(void *arg, const struct network_event *ev, struct err *e);

/*
 * Contracts a network that is not built, and gives out its events: each sub-task's in their order.
 * w is unchanged. All objects are below NETCONTRACT_OBJECTS_MAX. ERR_NOMEM, or what fn returned.
 * O(events).
 */
int netcontract_run(const struct network *w, const struct netcontract_plan *plan, netcontract_fn fn,
		    void *arg, struct err *e);

#endif
