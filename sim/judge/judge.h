/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the world after all faults were repaired and all users have left. All hosts and processes
 * must be visible with their true state, and no process may be stopped. Replies about manipulations
 * must be true, and sums exact. Each call must be reported once to a tool that requests it. At the
 * end no daemon may have state of the tools.
 */
#ifndef SIM_JUDGE_JUDGE_H
#define SIM_JUDGE_JUDGE_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

/* time from the last fault until all are connected */
#define JUDGE_HEAL_NS (30 * NSEC_PER_SEC)
/* time after which no daemon has state of the last tool, if there were no faults */
#define JUDGE_LEAVE_NS (5 * NSEC_PER_SEC)
/* time for which an sm, and then its lm, keeps a request that is not repeated */
#define JUDGE_FORGET_NS (150 * NSEC_PER_SEC)

/* Takes virtual time. A violated rule breaks the world. */
void judge(struct cluster *c, struct ledger *l, bool with_faults);

#endif
