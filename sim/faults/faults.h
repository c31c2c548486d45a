/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes wrong in a simulated world. Daemons are killed and start again some time later. Links
 * are cut, reset, slow or silent. Programs end and begin. Dice decide when, and where.
 */
#ifndef SIM_FAULTS_FAULTS_H
#define SIM_FAULTS_FAULTS_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

struct faults;

struct faults_conf {
	struct cluster *cluster;
	struct ledger *ledger;
	const char *const *tool; /* hosts of tools, for their links */
	unsigned ntool;
	nsec_t pause; /* between two faults, in the mean; 0: nothing goes wrong */
	nsec_t call_pause; /* between two calls of any rank */
};

int faults_new(const struct faults_conf *c, struct faults **out, struct err *e);
void faults_free(struct faults *f);

/* Nothing goes wrong from now on; all links are whole and all daemons run. */
void faults_heal(struct faults *f);

#endif
