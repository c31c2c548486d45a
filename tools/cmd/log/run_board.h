/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig run --interactions=FILE: what the processes of a command do, without MPI. They write it on a
 * board (common/board/board.h), and a process of ours writes it to the log.
 */
#ifndef TOOLS_CMD_LOG_RUN_BOARD_H
#define TOOLS_CMD_LOG_RUN_BOARD_H

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/board/board.h"

#include <sys/types.h>

struct run_board {
	struct board *board; /* mapped; NULL: none */
	char path[FILE_PATH_BYTES]; /* for the programs */
	pid_t reader;
};

/* Makes the file in the runtime directory. ERR_SYS, ERR_DENIED, ERR_LIMIT. */
int run_board_open(struct run_board *b, struct err *e);

/* Starts the reader, which ends in order by SIGUSR1. Single-threaded callers only. */
void run_board_start(struct run_board *b, const char *job, const char *log);

/* Blocks until all of it is at the end of the log, for most_ns at most. Removes the file. */
void run_board_end(struct run_board *b, int64_t most_ns);

#endif
