/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meters as event recorders would carry them: one for each sub-task, changed by its events alone,
 * added up when the last sub-task has ended. No path is kept. Source: Ashton and Penny, TR COSC
 * 01/91, Figure 5, with its faults repaired as docs/interactions.md lists them.
 */
#ifndef INTERACTION_NETMETER_H
#define INTERACTION_NETMETER_H

#include "interaction/network.h"

/* Totals over interactions. */
struct netmeter {
	uint64_t interactions, discarded; /* number of counted ones; of those outside of the set */
	int64_t sum_response; /* ns */
	int64_t sum_state[NETUSE_STATES_MAX];
};

/*
 * Runs the events of a built network through meters, and adds the result. ERR_LIMIT: a sum of 2^63
 * ns or more, *m is unchanged; ERR_NOMEM.
 */
int netmeter_run(struct netmeter *m, const struct network *w, struct err *e);

#endif
