/* SPDX-License-Identifier: Apache-2.0 */
#include "common/inproc/inproc.h"

#include "common/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* getaddrinfo() with a large /etc/hosts or NSS takes half of it. */
#define STACK_BYTES (256 * 1024)

static _Atomic unsigned ours; /* running threads of this library */

void inproc_lock(struct inproc_lock *l)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&l->mutex);
	l->cancel = cancel;
}

bool inproc_trylock(struct inproc_lock *l)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (!pthread_mutex_trylock(&l->mutex)) {
		l->cancel = cancel;
		return true;
	}
	pthread_setcancelstate(cancel, NULL);
	return false;
}

void inproc_unlock(struct inproc_lock *l)
{
	int cancel = l->cancel;

	pthread_mutex_unlock(&l->mutex);
	pthread_setcancelstate(cancel, NULL);
}

/*
 * Both signals are sent to the writing thread: blocked, they stay pending until this function
 * consumes them.
 */
ssize_t inproc_writev(int fd, const struct iovec *v, int n)
{
	const struct timespec at_once = { 0 };
	sigset_t both, before, pending;
	ssize_t done;
	int keep;

	sigemptyset(&both);
	sigaddset(&both, SIGPIPE);
	sigaddset(&both, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &both, &before);
	sigpending(&pending);
	if (sigismember(&pending, SIGPIPE) == 1)
		sigdelset(&both, SIGPIPE);
	if (sigismember(&pending, SIGXFSZ) == 1)
		sigdelset(&both, SIGXFSZ);
	done = writev(fd, v, n);
	keep = errno;
	while (sigtimedwait(&both, NULL, &at_once) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = keep;
	return done;
}

/*
 * True if the first thread has ended: "PID (NAME) STATE ..." shows it as a zombie until the last
 * thread has ended.
 */
static bool main_has_left(void)
{
	char text[128];
	const char *name_ends;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	name_ends = strrchr(text, ')');
	return name_ends && name_ends[1] == ' ' && name_ends[2] == 'Z';
}

bool inproc_is_alone(void)
{
	struct stat tasks;

	/* besides its own two links, the directory has a link for each thread */
	return !stat("/proc/self/task", &tasks) && tasks.st_nlink == 2 + 1 + ours &&
	       main_has_left();
}

int inproc_thread_start(void *(*run)(void *), void *arg, const char *name)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	if (pthread_attr_init(&attr))
		return -ERR_NOMEM;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!rc)
		pthread_setname_np(thread, name);
	pthread_attr_destroy(&attr);
	return rc ? -ERR_SYS : 0;
}

void inproc_thread_begins(void)
{
	ours++;
}

void inproc_thread_ends(void)
{
	ours--;
}

void inproc_no_threads(void)
{
	ours = 0;
}
