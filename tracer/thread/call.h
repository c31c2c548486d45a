/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inserts a call into a stopped thread, like a signal handler: afterwards the thread continues
 * where it was.
 */
#ifndef TRACER_THREAD_CALL_H
#define TRACER_THREAD_CALL_H

#include "common/base/err.h"

#include <stdint.h>

/*
 * Makes a stopped thread call the function at addr, without arguments. A frame on its stack lets
 * the kernel restore all its state afterwards. -ERR_UNSUPPORTED: not on this machine, or the
 * process has no C library through which to return.
 */
int call_insert(int32_t pid, int32_t tid, uint64_t addr, struct err *e);

/* Code of a process that calls into it need: of its C library, so it stays where it is. */
struct call_ways {
	uint64_t back; /* how signal handlers return */
	uint64_t syscall; /* a system call instruction and a return */
};

/* Reads up to some MiB: to be called before the threads are stopped. -ERR_UNSUPPORTED. */
int call_find_ways(int32_t pid, struct call_ways *out, struct err *e);

struct call_place {
	int32_t pid, tid;
	struct call_ways ways;
};

struct call_syscall {
	int64_t number;
	uint64_t arg[6];
};

/*
 * Makes a stopped thread execute a system call, which must not block. *result is its value, or the
 * negative errno. The thread was seized with PTRACE_O_TRACESYSGOOD and is between two instructions
 * (PTRACE_EVENT_STOP). It is so again afterwards, with all its registers; an interrupted call of
 * its own continues. SIGCHLD is consumed (change.h). If this process dies meanwhile, the thread
 * restores its registers itself. -ERR_AGAIN: not at this place. -ERR_TIMEOUT: the thread runs, and
 * will restore itself. -ERR_NOTFOUND: it has ended.
 */
int call_syscall(const struct call_place *at, const struct call_syscall *c, int64_t *result,
		 struct err *e);

#endif
