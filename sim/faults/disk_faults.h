/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong with the disks of a simulated world: they are full, they fail, hosts are switched
 * off. */
#ifndef SIM_FAULTS_DISK_FAULTS_H
#define SIM_FAULTS_DISK_FAULTS_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

/* Something, somewhere. */
void disk_faults_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n);

/* All disks are well from now on. */
void disk_faults_mend(struct cluster *c);

#endif
