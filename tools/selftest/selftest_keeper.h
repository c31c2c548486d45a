/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A temporary folder, and a process that removes it. When *fd is closed, all processes with
 * OMIG_STATE_DIR=DIR/state in their environment are killed. Then the folder is removed.
 */
#ifndef TOOLS_SELFTEST_SELFTEST_KEEPER_H
#define TOOLS_SELFTEST_SELFTEST_KEEPER_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* dir has size bytes. ERR_SYS, ERR_LIMIT. */
int selftest_keeper_start(char *dir, size_t size, int *fd, pid_t *pid, struct err *e);

/* Blocks until everything is removed. */
void selftest_keeper_end(int fd, pid_t pid);

/* True if some process uses that state folder; kills them on request. */
bool selftest_keeper_has(const char *dir, bool is_killing);

#endif
