/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder for a while, and a process that sees to its end: when *fd is closed, by whomever, all
 * processes that have OMIG_STATE_DIR=DIR/state in their environment are killed, and the folder is
 * taken away.
 */
#ifndef TOOLS_SELFTEST_SELFTEST_KEEPER_H
#define TOOLS_SELFTEST_SELFTEST_KEEPER_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* dir has size bytes. ERR_SYS, ERR_LIMIT. */
int selftest_keeper_start(char *dir, size_t size, int *fd, pid_t *pid, struct err *e);

/* Blocks until all is gone. */
void selftest_keeper_end(int fd, pid_t pid);

/* Somebody lives with that state folder; kills them with it when wished. */
bool selftest_keeper_has(const char *dir, bool is_killing);

#endif
