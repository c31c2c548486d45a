/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of disks in a simulated world: full disks, failing disks, and hosts that are switched off.
 */
#ifndef SIM_FAULTS_DISK_FAULTS_H
#define SIM_FAULTS_DISK_FAULTS_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

/* Causes a random fault on a random disk. */
void disk_faults_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n);

/* Repairs all disks. */
void disk_faults_mend(struct cluster *c);

#endif
