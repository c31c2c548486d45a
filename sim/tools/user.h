/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user of a simulated world: a tool that makes random requests. It knows the right answers,
 * because it can examine the hosts directly.
 */
#ifndef SIM_TOOLS_USER_H
#define SIM_TOOLS_USER_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

struct user;

struct user_conf {
	struct cluster *cluster;
	struct ledger *ledger;
	const char *name;
	bool may_manipulate;
	nsec_t pause; /* mean time between two actions */
	nsec_t slow; /* longest delay that links may add to an answer */
};

/* Makes the tool and connects it. */
int user_new(const struct user_conf *c, struct user **out, struct err *e);

/* Disconnects the tool, which ends its csrs and holds. */
void user_free(struct user *u);

#endif
