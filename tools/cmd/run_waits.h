/* SPDX-License-Identifier: Apache-2.0 */
/* The companion of `omig run`: it reports on stderr when the program's ranks wait for each other.
 */
#ifndef TOOLS_CMD_RUN_WAITS_H
#define TOOLS_CMD_RUN_WAITS_H

#include "common/base/clock.h"

struct run_waits {
	const char *job; /* of the program */
	const char *mainsm; /* as in struct cmd_common */
	nsec_t least; /* what lasts shorter is not reported; 0: nothing is */
};

/*
 * Starts it: a process that is no child of this one and holds nothing of it but stderr. It ends
 * when this process ends, as the program that it becomes. When it cannot start there are no such
 * lines. Single-threaded callers only.
 */
void run_waits_start(const struct run_waits *w);

#endif
