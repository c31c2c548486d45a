/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For libraries in foreign processes. A cancelled thread cannot leave the lock locked. The write
 * sends no signals to the program. Our threads end with the program.
 */
#ifndef COMMON_INPROC_INPROC_H
#define COMMON_INPROC_INPROC_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * The thread that holds the lock cannot be cancelled. Nested locks may be released in any order,
 * except that the first lock is released last.
 */
struct inproc_lock {
	pthread_mutex_t mutex;
	int cancel; /* the holder's previous cancel state */
};

#define INPROC_LOCK_INIT                           \
	{                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER \
	}

void inproc_lock(struct inproc_lock *l);
/* Returns false if it is locked. Signal-safe, like inproc_unlock(). */
bool inproc_trylock(struct inproc_lock *l);
void inproc_unlock(struct inproc_lock *l);

/*
 * Like writev(2). A failing write raises no SIGPIPE or SIGXFSZ, but signals that the program sends
 * are delivered. Signal-safe.
 */
ssize_t inproc_writev(int fd, const struct iovec *v, int n);

/*
 * True if only threads of this library are left: main() has called pthread_exit(), and all other
 * threads have ended. Without our threads the process would have ended. False if /proc does not
 * show it. Any thread.
 */
bool inproc_is_alone(void);

/*
 * Starts a detached thread of this library, with a small stack. All signals are blocked: they are
 * for the program's own threads. name: at most 15 bytes. Fails with ERR_NOMEM, ERR_SYS.
 */
int inproc_thread_start(void *(*run)(void *), void *arg, const char *name);

/*
 * Count a thread of this library that begins or ends. A child process has none at first. Any
 * thread.
 */
void inproc_thread_begins(void);
void inproc_thread_ends(void);
void inproc_no_threads(void);

#endif
