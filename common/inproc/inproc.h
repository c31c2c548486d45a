/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For libraries that live in processes of others: a lock that no cancelled
 * thread leaves behind; a write whose signals the program does not get; when
 * a thread of ours is not to keep the process alive.
 */
#ifndef COMMON_INPROC_INPROC_H
#define COMMON_INPROC_INPROC_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The thread that holds it cannot be cancelled. Locks taken one in another are given back in any
 * order that ends with the first. */
struct inproc_lock {
	pthread_mutex_t mutex;
	int cancel; /* the holder's state before */
};

#define INPROC_LOCK_INIT                           \
	{                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER \
	}

void inproc_lock(struct inproc_lock *l);
/* False: it is held already. Signal-safe, as inproc_unlock() is. */
bool inproc_trylock(struct inproc_lock *l);
void inproc_unlock(struct inproc_lock *l);

/* As writev(2). The SIGPIPE or SIGXFSZ of a write that fails does not come; the program's own one
 * does. Signal-safe. */
ssize_t inproc_writev(int fd, const struct iovec *v, int n);

/*
 * The caller is the only thread that runs: main() has left by pthread_exit(), and all others have
 * ended. Then the process would be over but for us. False where /proc does not show it. Any thread.
 */
bool inproc_is_alone(void);

#endif
