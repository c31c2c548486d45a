/* SPDX-License-Identifier: Apache-2.0 */
/* Networks without some of their events. Source: pfilter of TR COSC 01/91, section 7.2. */
#ifndef INTERACTION_SET_NETFILTER_H
#define INTERACTION_SET_NETFILTER_H

#include "interaction/network.h"

struct netfilter {
	const bool *object; /* by number: uses of these are left out; NULL: none */
	bool has_all; /* uses of all objects */
};

/*
 * Adds the events of `from` to `to`, without uses of the objects. A simple vertex is removed if it
 * only began or ended these uses, and no wait begins there. Sub-tasks, forks, joins and all times
 * are unchanged. ERR_LIMIT, ERR_NOMEM.
 */
int netfilter_run(const struct netfilter *f, const struct network *from, struct network *to,
		  struct err *e);

#endif
