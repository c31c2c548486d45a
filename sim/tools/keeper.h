/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of a simulated world with a subscription to the programs' events. It writes received
 * blocks to a file, as `omig events on --to` does. It also causes such events in programs. It is
 * killed at random, and continues with the file. At the end it receives the remaining events, and
 * the generated events are compared with the file.
 */
#ifndef SIM_TOOLS_KEEPER_H
#define SIM_TOOLS_KEEPER_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

struct keeper;

struct keeper_conf {
	struct cluster *cluster;
	struct ledger *ledger;
	const char *name; /* name of the keeper's host */
	bool with_faults;
	nsec_t slow; /* longest delay that links may add to an answer */
};

/* Makes the tool and connects it. */
int keeper_new(const struct keeper_conf *c, struct keeper **out, struct err *e);

/*
 * Called after the last event, when all faults are repaired. Takes virtual time until all events
 * are received. Then judges the file, and the tool leaves.
 */
void keeper_finish(struct keeper *k);
void keeper_free(struct keeper *k);

#endif
