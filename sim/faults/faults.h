/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults in a simulated world. Daemons are killed and start again some time later. Links are cut,
 * reset, slow or silent. Programs end and begin. Random numbers determine time and place.
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
	nsec_t pause; /* mean time between two faults; 0: no faults */
	nsec_t call_pause; /* time between two calls, of any rank */
};

int faults_new(const struct faults_conf *c, struct faults **out, struct err *e);
void faults_free(struct faults *f);

/* Ends all faults: all links work and all daemons run. */
void faults_heal(struct faults *f);

#endif
