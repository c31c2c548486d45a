/* SPDX-License-Identifier: Apache-2.0 */
/* omig run --interactions=FILE: events of the job, written beside the program while it runs. */
#ifndef TOOLS_CMD_LOG_RUN_RECORD_H
#define TOOLS_CMD_LOG_RUN_RECORD_H

struct run_board;

struct run_record {
	const char *job, *mainsm; /* mainsm: as in struct cmd_common */
	const char *path; /* of the event log, which is replaced */
	struct run_board *board; /* NULL: processes are not recorded */
};

/*
 * Records all events of the job but library calls. The program begins when they are on, or 2 s
 * later; the end is held back until the log is complete, for 10 s at most. become(arg) becomes the
 * program, in a child of this process. Ends this process as the program has ended; returns only
 * when nothing was started. Single-threaded callers only.
 */
void run_record(const struct run_record *r, int (*become)(void *arg), void *arg);

#endif
