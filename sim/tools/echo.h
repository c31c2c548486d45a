/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends each measurement frame of lms and sms twice: by the protocol (docs/flow.md) it must count
 * once.
 */
#ifndef SIM_TOOLS_ECHO_H
#define SIM_TOOLS_ECHO_H

#include "sim/nodes/cluster.h"

struct echo;

/*
 * Repeats frames from now on, at all daemons. Does nothing in a world with a rogue
 * (sim/rogues/rogue.h), which uses the same tap.
 */
int echo_new(struct cluster *c, struct echo **out);
void echo_stop(struct echo *e);
void echo_free(struct echo *e);

#endif
