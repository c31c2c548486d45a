/* SPDX-License-Identifier: Apache-2.0 */
/* One lm-trace that runs, and the line to it. */
#ifndef LM_TRACE_RUN_H
#define LM_TRACE_RUN_H

#include "common/base/err.h"
#include "common/base/list.h"

#include <stdint.h>

struct loop;
struct trace_run;

/* NULL with a reason. */
struct trace_run *trace_run_start(struct loop *l, const char *program, struct err *e);

/* The line closes; who reads its end ends. The run waits in `ending` until it is reaped. NULL is fine. */
void trace_run_end(struct trace_run *r, struct list *ending);

/* We end before they do: somebody else reaps them. */
void trace_runs_drop(struct list *ending);
void trace_run_kill(struct trace_run *r);

int trace_run_fd(const struct trace_run *r);
int32_t trace_run_pid(const struct trace_run *r);

#endif
