/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the world after all faults were repaired and all users have left. All hosts and processes
 * must be visible with their true state. No process is stopped. Replies about manipulations are
 * true. Each call is reported once to a tool that requests it, and sums are exact. Finally no state
 * of the tools is left anywhere.
 */
#ifndef SIM_JUDGE_JUDGE_H
#define SIM_JUDGE_JUDGE_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

#define JUDGE_HEAL_NS                                                      \
	(30 * NSEC_PER_SEC) /* from the last fault until all are connected \
			     */
/* time in which the state of the last tool must be gone, if there were no faults */
#define JUDGE_LEAVE_NS (5 * NSEC_PER_SEC)
/* time for which an sm, and then its lm, keeps a request that is not repeated */
#define JUDGE_FORGET_NS (150 * NSEC_PER_SEC)

/* Takes (virtual) time. A violated rule breaks the world. */
void judge(struct cluster *c, struct ledger *l, bool with_faults);

#endif
