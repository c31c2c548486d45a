/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool that may only observe but requests everything: processes, requests and measurements of
 * others, and services for admins.
 */
#ifndef SIM_ROGUES_ROGUETOOL_H
#define SIM_ROGUES_ROGUETOOL_H

#include "common/base/rng.h"
#include "sim/nodes/cluster.h"

struct roguetool;

/* Connects at once, from the host ROGUE_TOOL. dice: borrowed. */
int roguetool_new(struct cluster *c, struct rng *dice, struct roguetool **out, struct err *e);

/* Disconnects and frees the tool. NULL is fine. */
void roguetool_free(struct roguetool *t);

#endif
