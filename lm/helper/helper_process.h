/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs beside the lm and for it, and the line to it: lm-trace,
 * lm-guard. It has a session of its own, so that what ends the lm's process group does not reach
 * it; it ends when it reads the end of its line.
 */
#ifndef LM_HELPER_HELPER_PROCESS_H
#define LM_HELPER_HELPER_PROCESS_H

#include "common/base/err.h"
#include "common/container/list.h"

#include <stdint.h>

struct loop;
struct helper_process;

/* argv[0]: its path. NULL with a reason. */
struct helper_process *helper_process_start(struct loop *l, const char *const *argv, struct err *e);

/*
 * The line closes; a process that reads its end ends. It waits in `ending` until it is reaped. NULL
 * is fine.
 */
void helper_process_end(struct helper_process *c, struct list *ending);

/* We end before they do: another process reaps them. */
void helper_processes_drop(struct list *ending);
void helper_process_kill(struct helper_process *c);

int helper_process_fd(const struct helper_process *c);
int32_t helper_process_pid(const struct helper_process *c);

#endif
