/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses daemons of a simulated world for a while, then continues them. */
#ifndef SIM_FAULTS_PAUSES_H
#define SIM_FAULTS_PAUSES_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

/* Pauses a random daemon for 0.1 to 20 s; short times are as likely as long ones. */
void pauses_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n);

/* Continues all daemons. */
void pauses_mend(struct cluster *c);

#endif
