/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher of `omig run`, a process that reports on stderr when the program's ranks wait for
 * each other.
 */
#ifndef TOOLS_CMD_RUN_WAITS_H
#define TOOLS_CMD_RUN_WAITS_H

#include "common/base/clock.h"

struct run_waits {
	const char *job; /* of the program */
	const char *mainsm; /* as in struct cmd_common */
	nsec_t least; /* shorter waits are not reported; 0: none are */
};

/*
 * Starts the watcher: no child of this process, which inherits only its stderr. It ends when this
 * process, or the program that it executes, ends. If it cannot start, nothing is reported.
 * Single-threaded callers only.
 */
void run_waits_start(const struct run_waits *w);

#endif
