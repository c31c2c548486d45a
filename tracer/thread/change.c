/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/thread/change.h"

#include <signal.h>
#include <stddef.h>

/*
 * No polling: where processors are scarce, the thread that is waited for would get less of them. A
 * signal that came before the last waitpid() may be lost, so one wait is short.
 */
#define TURN_NS NSEC_PER_MSEC

void change_wait(nsec_t most)
{
	struct timespec turn = { 0, most < TURN_NS ? (most > 0 ? (long)most : 0) : TURN_NS };
	sigset_t child, before;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	sigtimedwait(&child, NULL, &turn);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void change_repeat(void)
{
	raise(SIGCHLD);
}
