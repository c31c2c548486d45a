/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that represents a program: signals sent to it are passed to the program, and it stops
 * and ends as the program does. SIGSTOP cannot be passed on. Single-threaded callers only; one
 * program per process.
 */
#ifndef TOOLS_LAUNCH_SUPERVISE_H
#define TOOLS_LAUNCH_SUPERVISE_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

struct supervised {
	sigset_t before; /* signals that were blocked when it began */
	struct sigaction child; /* of SIGCHLD then: the caller may ignore it */
	pid_t program;
	pid_t witness; /* a child that receives signals to the group; -1: none */
};

/*
 * Blocks all signals, and no longer ignores SIGCHLD. Processes forked from now on inherit that;
 * supervise_start() undoes it in the program.
 */
void supervise_begin(struct supervised *s);

/*
 * Forks; become(arg) runs in the child, and its return value is the child's exit status. The child
 * is killed when this process is. Returns -1 with errno on failure, with the previous signal mask.
 */
int supervise_start(struct supervised *s, int (*become)(void *arg), void *arg);

/* Blocks until the program has ended. Returns its status, as of wait(). */
int supervise_wait(struct supervised *s);

/*
 * Blocks until another child has ended, for most_ns at most. Returns its status, as of wait().
 * After that time it kills the child and returns -1. -1 if pid is not a child of this process.
 */
int supervise_end_child(pid_t pid, int64_t most_ns);

/* Ends this process in the same way, without a core file. */
void supervise_end(int status) __attribute__((noreturn));

#endif
