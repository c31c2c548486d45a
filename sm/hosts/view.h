/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What planning asks of an sm. Lists are written out when they come here, so
 * it only has to know which host an object is on; the host itself knows the rest.
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
	uint32_t nbranch; /* branches that come later are not part of it */
};

/* For a request. v is the callbacks' argument. */
struct route_view site_view_now(struct site_view *v);

/* For arming: a host that is silent keeps what it is to watch for. */
struct route_view site_view_arming(struct site_view *v);

/* Is a counter requested at hosts that may not have it? Their reply that it is unknown is no
 * error. */
bool site_view_guesses(const struct site_view *v, const char *token);

#endif
