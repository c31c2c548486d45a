/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a process is the intended one, and may be traced by us. */
#ifndef TRACER_THREAD_WHO_H
#define TRACER_THREAD_WHO_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct who {
	int32_t pid, tid;
	uint64_t start; /* of the process, in clock ticks since boot */
};

/*
 * -ERR_NOTFOUND: it has ended, or the pid was reused; or the thread is not in it. -ERR_DENIED: it
 * belongs to another user. -ERR_SYS: another process traces it; the text names its pid.
 */
int who_check(const struct who *w, struct err *e);

/* Returns 0 if there is no such process. */
uint64_t who_start(int32_t pid);

/* True if the thread has ended, or is ending. A leader may end long before its process. */
bool who_has_ended(const struct who *w);

/* True if this process traces the thread: one that a traced thread has started, for example. */
bool who_is_ours(const struct who *w);

/* Returns the process of a thread; 0 if there is none. */
int32_t who_process_of(int32_t tid);

#endif
