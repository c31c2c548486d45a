/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs beside the lm and for it, with a socket pair to it: lm-trace, lm-guard. It
 * has a session of its own, so that a signal to the lm's process group does not reach it. It ends
 * when it reads the end of its socket.
 */
#ifndef LM_HELPER_HELPER_PROCESS_H
#define LM_HELPER_HELPER_PROCESS_H

#include "common/base/err.h"
#include "common/container/list.h"

#include <stdint.h>

struct loop;
struct helper_process;

/* argv[0] is its path. Returns NULL with a reason. */
struct helper_process *helper_process_start(struct loop *l, const char *const *argv, struct err *e);

/*
 * Closes the socket; the process ends when it reads that. It waits in `ending` until it is reaped.
 * NULL is fine.
 */
void helper_process_end(struct helper_process *c, struct list *ending);

/* The lm ends before these processes do: another process reaps them. */
void helper_processes_drop(struct list *ending);
void helper_process_kill(struct helper_process *c);

int helper_process_fd(const struct helper_process *c);
int32_t helper_process_pid(const struct helper_process *c);

#endif
