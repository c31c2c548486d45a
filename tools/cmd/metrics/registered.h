/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics that are registered in the monitor: omig metrics add, list, show, remove. */
#ifndef TOOLS_CMD_METRICS_REGISTERED_H
#define TOOLS_CMD_METRICS_REGISTERED_H

#include <stdbool.h>

/* argv[1] is one of these verbs. */
bool metrics_is_verb(int argc, char **argv);

/* An exit status; argv[1] is the verb. */
int metrics_registered(int argc, char **argv);

#endif
