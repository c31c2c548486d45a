/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inserts a call into a stopped thread, like a signal handler: afterwards the thread continues
 * where it was.
 */
#ifndef TRACER_THREAD_CALL_H
#define TRACER_THREAD_CALL_H

#include "common/base/err.h"

#include <stddef.h>
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
	int64_t result; /* a negative errno is an error; of call_syscalls() only */
};

/*
 * Makes a stopped thread execute system calls, which must not block, and gives their results. The
 * thread was seized with PTRACE_O_TRACESYSGOOD and is between two instructions
 * (PTRACE_EVENT_STOP). It is so again afterwards, with all its registers; an interrupted call of
 * its own continues. SIGCHLD is consumed (change.h). If this process dies meanwhile, the thread
 * restores its registers itself. -ERR_AGAIN: not at this place. -ERR_TIMEOUT: the thread runs, and
 * will restore itself. -ERR_NOTFOUND: it has ended.
 */
int call_syscalls(const struct call_place *at, struct call_syscall *c, size_t n, struct err *e);

/*
 * Makes such a thread execute the calls when it continues, and restore itself then: it stops no
 * more. -ERR_UNSUPPORTED, among others: it is in a wait that only its tracer can continue.
 * -ERR_AGAIN: not at this place, or calls of an earlier attempt are still to be executed.
 */
int call_enqueue(const struct call_place *at, const struct call_syscall *c, size_t n,
		 struct err *e);

#endif
