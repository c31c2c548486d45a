/* SPDX-License-Identifier: Apache-2.0 */
/* Daemons of a simulated world that stand still for a while, and continue. */
#ifndef SIM_FAULTS_PAUSES_H
#define SIM_FAULTS_PAUSES_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

/* One of them, for 0.1 to 20 s; short times are as likely as long ones. */
void pauses_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n);

/* All daemons run again. */
void pauses_mend(struct cluster *c);

#endif
