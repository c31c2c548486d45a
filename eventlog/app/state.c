/* SPDX-License-Identifier: Apache-2.0 */
/* The log of the process, its lock, and the buffer of the calling thread. */
#include "eventlog/app/event.h"
#include "eventlog/app/log.h"

#include <pthread.h>
#include <time.h>

__thread struct omig_event_thread *omig_event_here __attribute__((tls_model("initial-exec")));

static struct log_state the = { .lock = INPROC_LOCK_INIT,
				.opening = INPROC_LOCK_INIT,
				.fd = -1,
				.ntype = 1,
				.bell = &the.own_bell };

struct log_state *log_the(void)
{
	return &the;
}

/* Returns an address that identifies the calling thread. */
static const void *me(void)
{
	return &omig_event_here;
}

void log_lock(struct log_state *s)
{
	inproc_lock(&s->lock);
	s->holder = me();
}

void log_unlock(struct log_state *s)
{
	s->holder = NULL;
	inproc_unlock(&s->lock);
}

/* tries of one ms each: if a disk hangs longer than a minute, events are lost */
#define TRIES 60000

bool log_lock_if_free(struct log_state *s)
{
	const struct timespec ms = { .tv_nsec = NSEC_PER_MSEC };
	int cancel;

	/* An event must not become a cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	for (int i = 0; i < TRIES && s->holder != me(); i++) {
		if (!pthread_mutex_trylock(&s->lock.mutex)) {
			s->lock.cancel = cancel;
			s->holder = me();
			return true;
		}
		nanosleep(&ms, NULL);
	}
	pthread_setcancelstate(cancel, NULL);
	return false;
}
