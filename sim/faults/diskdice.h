/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong with the disks of a simulated world: they are full, they fail, hosts are switched
 * off. */
#ifndef SIM_FAULTS_DISKDICE_H
#define SIM_FAULTS_DISKDICE_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

/* Something, somewhere. */
void diskdice_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n);

/* All disks are well from now on. */
void diskdice_mend(struct cluster *c);

#endif
