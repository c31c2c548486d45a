/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user of a simulated world: a tool that makes random requests. It knows what the answers must
 * be, because it can examine the hosts themselves.
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
	nsec_t slow; /* delay that links may add to an answer */
};

/* Makes the tool, which connects at once. */
int user_new(const struct user_conf *c, struct user **out, struct err *e);

/* The tool leaves, with all csrs and holds that it has made. */
void user_free(struct user *u);

#endif
