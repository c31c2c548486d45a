/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For libraries in other programs' processes: a lock that no cancelled thread leaves locked, and a
 * write without signals to the program. Also a check that ends our threads with the program.
 */
#ifndef COMMON_INPROC_INPROC_H
#define COMMON_INPROC_INPROC_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * The thread that holds it cannot be cancelled. Nested locks may be released in any order, as long
 * as the first lock is released last.
 */
struct inproc_lock {
	pthread_mutex_t mutex;
	int cancel; /* the holder's state before */
};

#define INPROC_LOCK_INIT                           \
	{                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER \
	}

void inproc_lock(struct inproc_lock *l);
/* Returns false if it is locked. Signal-safe, as inproc_unlock() is. */
bool inproc_trylock(struct inproc_lock *l);
void inproc_unlock(struct inproc_lock *l);

/*
 * As writev(2). A failing write raises no SIGPIPE or SIGXFSZ; the program's own signals are
 * delivered. Signal-safe.
 */
ssize_t inproc_writev(int fd, const struct iovec *v, int n);

/*
 * True if only threads of this library are left: main() has left by pthread_exit(), and all others
 * have ended. Without our threads the process would have ended. False if /proc does not show it.
 * Any thread.
 */
bool inproc_is_alone(void);

/*
 * Starts a detached thread of this library, with little stack and all signals blocked: the
 * program's signals are for its own threads. name: at most 15 bytes. -ERR_NOMEM, -ERR_SYS.
 */
int inproc_thread_start(void *(*run)(void *), void *arg, const char *name);

/* A thread of this library begins, or ends. In a child process there is none yet. Any thread. */
void inproc_thread_begins(void);
void inproc_thread_ends(void);
void inproc_no_threads(void);

#endif
