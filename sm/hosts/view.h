/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner's view of an sm. Object lists are expanded before they arrive. So an sm only needs
 * the host of each object; the host has the rest.
 */
#ifndef SM_HOSTS_VIEW_H
#define SM_HOSTS_VIEW_H

#include "common/route/view.h"
#include "sm/hosts/nodes.h"
#include "sm/hosts/placement.h"

/* Borrowed. */
struct site_view {
	const struct nodes *nodes;
	const struct placement *placement;
	uint32_t nbranch; /* later branches are not part of it */
};

/* View for a request. v is the callbacks' argument. */
struct route_view site_view_now(struct site_view *v);

/* View for arming: a silent host keeps its csrs. */
struct route_view site_view_arming(struct site_view *v);

/*
 * True if a counter is requested at hosts that may not have it. Their reply that it is unknown is
 * no error.
 */
bool site_view_guesses(const struct site_view *v, const char *token);

#endif
