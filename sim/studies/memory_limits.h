/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks queued and allocated memory against the promised limits (docs/sim.md). Each queue must
 * stay under its cap, and each daemon under its limit, even if peers do not read. After all tools
 * have left, a daemon must have as much memory as before the first one.
 */
#ifndef SIM_STUDIES_MEMORY_LIMITS_H
#define SIM_STUDIES_MEMORY_LIMITS_H

#include "sim/nodes/cluster.h"

struct memory_limits;

/*
 * Called when all daemons have settled, and no tool has connected. Checks each half second from now
 * on; an excess breaks the world.
 */
int memory_limits_new(struct cluster *c, struct memory_limits **out, struct err *e);
void memory_limits_free(struct memory_limits *k);

/*
 * Called when all faults are repaired, all tools have left, and the state kept for their return has
 * expired.
 */
void memory_limits_judge(const struct memory_limits *k);

#endif
