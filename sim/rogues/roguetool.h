/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that may only observe, and asks for everything else: of others' processes, requests,
 * measurements, and what admins ask. */
#ifndef SIM_ROGUES_ROGUETOOL_H
#define SIM_ROGUES_ROGUETOOL_H

#include "common/base/rng.h"
#include "sim/nodes/cluster.h"

struct roguetool;

/* Comes at once, to the host ROGUE_TOOL. dice: borrowed. */
int roguetool_new(struct cluster *c, struct rng *dice, struct roguetool **out, struct err *e);

/* Leaves in good order. NULL is fine. */
void roguetool_free(struct roguetool *t);

#endif
