/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits and what is allocated, against what is promised (docs/sim.md). Each queue stays under
 * its cap, and each daemon under what its links may make it allocate, whichever peers read. When
 * all have left, a daemon has what it had before any tool came.
 */
#ifndef SIM_STUDIES_CAPS_H
#define SIM_STUDIES_CAPS_H

#include "sim/nodes/cluster.h"

struct caps;

/* All daemons have settled, and no tool has come yet. From now on all is checked each half second;
 * what is too much breaks the world. */
int caps_new(struct cluster *c, struct caps **out, struct err *e);
void caps_free(struct caps *k);

/* All is whole, all tools have left, and what is kept for their return is gone. */
void caps_judge(const struct caps *k);

#endif
