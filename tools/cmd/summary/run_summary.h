/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector of `omig run --summary`: a second process, which reads the values of the program's
 * job. It writes them when the program has ended.
 */
#ifndef TOOLS_CMD_SUMMARY_RUN_SUMMARY_H
#define TOOLS_CMD_SUMMARY_RUN_SUMMARY_H

#include <stdbool.h>
#include <sys/types.h>

struct run_summary {
	const char *job, *mainsm; /* mainsm: as in struct cmd_common */
	const char *command; /* the program's name */
	const char *measured; /* volume or partner */
	bool has_sites; /* call sites, too */
	const char *path; /* of the file; NULL: text on stderr alone */
};

/*
 * Runs the program and its collector. become(arg) becomes the program, in a child of this process,
 * and returns an exit status when it cannot. Forwards signals, waits for the program, and then for
 * the summary for SUMMARY_EXIT_MAX_NS at most. Ends this process as the program has ended; returns
 * only when nothing was started: then the caller becomes the program. Single-threaded callers only.
 */
void run_summary(const struct run_summary *r, int (*become)(void *arg), void *arg);

#endif
