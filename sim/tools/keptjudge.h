/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs have made of a kept subscription, against what came of it into a file: no event
 * twice, those of a stream in their order, and each one that is not there is counted as lost,
 * exactly. But where an sm's disk has failed, and for hosts whose disk has failed or lost its
 * power, only that what is there was made. Of programs that ended while no lm was there what was in
 * their rings is gone.
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
