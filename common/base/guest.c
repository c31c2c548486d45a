/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/guest.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

void guest_lock(struct guest_lock *l)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&l->mutex);
	l->cancel = cancel;
}

bool guest_trylock(struct guest_lock *l)
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

void guest_unlock(struct guest_lock *l)
{
	int cancel = l->cancel;

	pthread_mutex_unlock(&l->mutex);
	pthread_setcancelstate(cancel, NULL);
}

/* Both signals go to the thread that writes: blocked here, they wait until they are taken back. */
ssize_t guest_writev(int fd, const struct iovec *v, int n)
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
