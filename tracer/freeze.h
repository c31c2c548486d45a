/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process with all its threads stopped, for a moment: to see where they are, to change its memory
 * and to let one of them execute a system call. This is invisible to the program: registers and
 * interrupted system calls are as before.
 *
 *	struct freeze *f;
 *	int rc = freeze_begin(tracees, &process, &f, e);
 *
 *	if (rc)
 *		return rc;
 *	for (size_t i = 0; i < freeze_count(f); i++)
 *		... regs_get(freeze_tid(f, i), ...) ...
 *	rc = freeze_write(f, address, bytes, n, e);
 *	freeze_end(f);
 *
 * Between begin and end the caller must not return to the loop, and must be quick. If lm-trace dies
 * there, the kernel resumes all threads; memory remains as it was written so far.
 */
#ifndef TRACER_FREEZE_H
#define TRACER_FREEZE_H

#include "tracer/thread/call.h"
#include "tracer/tracees.h"

/* The threads that have stopped wait no longer for the others; the caller tries again later. */
#define FREEZE_STOP_MAX_NS (20 * NSEC_PER_MSEC)
/* A busy machine may keep threads from their processors; while none has stopped, none is held. */
#define FREEZE_BEGIN_MAX_NS (500 * NSEC_PER_MSEC)
#define FREEZE_THREADS_MAX 4096

struct freeze;

/*
 * Stops all threads of w->pid, also those that start meanwhile. Blocks until they have stopped, at
 * most FREEZE_BEGIN_MAX_NS. Threads that are traced already, for requests or watches, take part.
 * -ERR_TIMEOUT: one did not stop in time, all run again. -ERR_NOTFOUND, -ERR_DENIED, -ERR_SYS,
 * -ERR_LIMIT.
 */
int freeze_begin(struct tracees *s, const struct who *w, struct freeze **out, struct err *e);

/* True for an error of these functions that may be gone a little later: the caller repeats all. */
bool freeze_is_transient(int rc);

/*
 * Resumes all threads. NULL is fine. Returns how long the first thread of the process was stopped,
 * at most; others may have been up to FREEZE_STOP_MAX_NS longer.
 */
nsec_t freeze_end(struct freeze *f);

int32_t freeze_pid(const struct freeze *f);
size_t freeze_count(const struct freeze *f);
int32_t freeze_tid(const struct freeze *f, size_t i);

/* -ERR_NOTFOUND: not mapped. */
int freeze_read(const struct freeze *f, uint64_t addr, void *p, size_t n, struct err *e);
/* Writes to pages without the right to write, too: to code and to relocated tables. */
int freeze_write(struct freeze *f, uint64_t addr, const void *p, size_t n, struct err *e);

/*
 * Makes a thread execute system calls that do not block, now; ways: from call_find_ways(), before
 * freeze_begin(). -ERR_AGAIN: no thread is at a place where it can; later one may be.
 */
int freeze_syscalls(struct freeze *f, const struct call_ways *ways, struct call_syscall *c,
		    size_t n, struct err *e);

/*
 * As freeze_syscalls(), after freeze_end(): the thread needs no further stops for it. Results are
 * not known. -ERR_UNSUPPORTED, among others: the thread would not come to it, or its wait would
 * begin again.
 */
int freeze_enqueue(struct freeze *f, const struct call_ways *ways, const struct call_syscall *c,
		   size_t n, struct err *e);

#endif
