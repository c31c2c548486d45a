/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs have made of a kept subscription, against what came of it into a file. No event is
 * there twice, and those of a stream are in their order. Exactly those that are missing are counted
 * as lost. After a disk of an sm has failed, only that what is there was made. The same holds for
 * hosts whose disk has failed or lost its power. Of programs that ended while no lm was there, what
 * was in their rings is gone.
 */
#ifndef SIM_TOOLS_KEPTJUDGE_H
#define SIM_TOOLS_KEPTJUDGE_H

#include "eventlog/evbalance.h"
#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

/* The subscription has ended. Breaks the world. */
void keptjudge(struct cluster *c, const char *path, const struct evbalance *b, bool with_faults,
	       struct ledger_counts *n);

#endif
