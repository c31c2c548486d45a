/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits and what is allocated, against what is promised (docs/sim.md). Each queue stays under
 * its cap, and each daemon under what its links may make it allocate, whichever peers read. When
 * all have left, a daemon has what it had before any tool came.
 */
#ifndef SIM_STUDIES_MEMORY_LIMITS_H
#define SIM_STUDIES_MEMORY_LIMITS_H

#include "sim/nodes/cluster.h"

struct memory_limits;

/* All daemons have settled, and no tool has come yet. From now on all is checked each half second;
 * what is too much breaks the world. */
int memory_limits_new(struct cluster *c, struct memory_limits **out, struct err *e);
void memory_limits_free(struct memory_limits *k);

/* All is whole, all tools have left, and what is kept for their return is gone. */
void memory_limits_judge(const struct memory_limits *k);

#endif
