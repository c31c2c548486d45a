/* SPDX-License-Identifier: Apache-2.0 */
/* What lms and sms send up of measurements comes twice: the protocol (docs/flow.md) has it count
 * once. */
#ifndef SIM_TOOLS_ECHO_H
#define SIM_TOOLS_ECHO_H

#include "sim/nodes/cluster.h"

struct echo;

/* Doubles from now on, at all daemons. Nothing in a world with a rogue (sim/rogues/rogue.h), which
 * uses the same tap. */
int echo_new(struct cluster *c, struct echo **out);
void echo_stop(struct echo *e);
void echo_free(struct echo *e);

#endif
