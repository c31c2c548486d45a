/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs beside the lm and for it, and the line to it: lm-trace,
 * lm-guard. It has a session of its own, so that what ends the lm's process group does not reach
 * it; it ends when it reads the end of its line.
 */
#ifndef LM_COMPANION_H
#define LM_COMPANION_H

#include "common/base/err.h"
#include "common/base/list.h"

#include <stdint.h>

struct loop;
struct companion;

/* argv[0]: its path. NULL with a reason. */
struct companion *companion_start(struct loop *l, const char *const *argv, struct err *e);

/* The line closes; who reads its end ends. It waits in `ending` until it is reaped. NULL is
 * fine. */
void companion_end(struct companion *c, struct list *ending);

/* We end before they do: somebody else reaps them. */
void companions_drop(struct list *ending);
void companion_kill(struct companion *c);

int companion_fd(const struct companion *c);
int32_t companion_pid(const struct companion *c);

#endif
