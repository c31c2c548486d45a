/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold when all is whole again and all users have left. All hosts and processes are
 * seen, as they are. No process is stopped. What replies said of manipulations is true. Each call
 * is reported once to a tool that requests it, and sums are exact. Then nothing of it all is left
 * anywhere.
 */
#ifndef SIM_JUDGE_JUDGE_H
#define SIM_JUDGE_JUDGE_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

#define JUDGE_HEAL_NS (30 * NSEC_PER_SEC) /* from the last fault until all is well */
/* where nothing went wrong, from the last tool until nothing is left of it */
#define JUDGE_LEAVE_NS (5 * NSEC_PER_SEC)
/* as long as an sm, and then its lm, keeps a request that is not requested again */
#define JUDGE_FORGET_NS (150 * NSEC_PER_SEC)

/* Takes its (virtual) time. What does not hold breaks the world. */
void judge(struct cluster *c, struct ledger *l, bool with_faults);

#endif
