/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends each measurement frame of lms and sms twice: a receiver must count it once (docs/flow.md).
 */
#ifndef SIM_TOOLS_ECHO_H
#define SIM_TOOLS_ECHO_H

#include "sim/nodes/cluster.h"

struct echo;

/*
 * Repeats frames of all daemons from now on. Has no effect in a world with a rogue
 * (sim/rogues/rogue.h), which uses the same tap.
 */
int echo_new(struct cluster *c, struct echo **out);
void echo_stop(struct echo *e);
void echo_free(struct echo *e);

#endif
