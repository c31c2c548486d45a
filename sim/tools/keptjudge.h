/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the events that programs generated for a subscription with those in the file. No event
 * may occur twice, and those of a stream must be in order. Exactly the missing ones must be counted
 * as lost. After a disk of an sm has failed, it only checks that the events in the file were
 * generated. The same holds for hosts whose disk has failed or lost its power. Events in the rings
 * of programs that ended without an lm are lost.
 */
#ifndef SIM_TOOLS_KEPTJUDGE_H
#define SIM_TOOLS_KEPTJUDGE_H

#include "eventlog/evbalance.h"
#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

/* Called when the subscription has ended. May break the world. */
void keptjudge(struct cluster *c, const char *path, const struct evbalance *b, bool with_faults,
	       struct ledger_counts *n);

#endif
