/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of a simulated world with a subscription to the programs' events. It writes received
 * blocks to a file, as `omig events on --to` does. It also makes programs have such events. It is
 * killed at random, and continues with the file. In the end it receives the rest, and the generated
 * events are compared with the file.
 */
#ifndef SIM_TOOLS_KEEPER_H
#define SIM_TOOLS_KEEPER_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

struct keeper;

struct keeper_conf {
	struct cluster *cluster;
	struct ledger *ledger;
	const char *name; /* name of its host */
	bool with_faults;
	nsec_t slow; /* delay that links may add to an answer */
};

/* Makes the tool, which connects at once. */
int keeper_new(const struct keeper_conf *c, struct keeper **out, struct err *e);

/*
 * Called when no more events are made, and all faults are repaired. Takes virtual time until all
 * was sent, then judges it, and the tool leaves.
 */
void keeper_finish(struct keeper *k);
void keeper_free(struct keeper *k);

#endif
