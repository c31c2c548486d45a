/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process is the one that is meant, and may be traced by us. */
#ifndef TRACER_WHO_H
#define TRACER_WHO_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct who {
	int32_t pid, tid;
	uint64_t start; /* of the process, in clock ticks since boot */
};

/*
 * -ERR_NOTFOUND: it has ended, or the pid means another process; the thread is not of it.
 * -ERR_DENIED: of another user. -ERR_SYS: another process traces it; the text names its pid.
 */
int who_check(const struct who *w, struct err *e);

/* 0 when there is no such process. */
uint64_t who_start(int32_t pid);

/* True: the thread has ended, or is about to. A leader may end long before its process. */
bool who_has_ended(const struct who *w);

/* The process that a thread belongs to; 0 when there is none. */
int32_t who_process_of(int32_t tid);

#endif
