/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that does the work and waits for the disk, so that the loop does not. */
#include "eventlog/spool/spooler_internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void until(struct timespec *t, nsec_t at)
{
	t->tv_sec = at / NSEC_PER_SEC;
	t->tv_nsec = at % NSEC_PER_SEC;
}

/* --- the thread */

/* Waits for work. Returns false at the end. */
static bool wait_for_work(struct spooler *s, nsec_t due)
{
	struct timespec at;
	bool goes_on;

	until(&at, due);
	pthread_mutex_lock(&s->lock);
	while (!s->has_work && !s->is_closing) {
		int rc = due == INT64_MAX ? pthread_cond_wait(&s->wake, &s->lock)
					  : pthread_cond_timedwait(&s->wake, &s->lock, &at);

		if (rc == ETIMEDOUT)
			break;
	}
	goes_on = !s->is_closing;
	pthread_mutex_unlock(&s->lock);
	return goes_on;
}

static void end(struct spooler *s)
{
	bool is_left;

	turn_close(s->turn);
	pthread_mutex_lock(&s->lock);
	s->has_ended = true;
	is_left = s->is_left;
	pthread_cond_signal(&s->ended);
	pthread_mutex_unlock(&s->lock);
	if (is_left)
		spooler_free(s);
}

static void *run(void *arg)
{
	struct spooler *s = arg;
	nsec_t due;

	due = turn_work(s->turn);
	while (wait_for_work(s, due))
		due = turn_work(s->turn);
	turn_work(s->turn); /* for the last requests */
	end(s);
	return NULL;
}

/* --- functions of the loop */

static void on_event(void *arg, unsigned what)
{
	struct spooler *s = arg;
	uint64_t unused;
	ssize_t n = read(s->event_fd, &unused, sizeof(unused));

	if (n < 0)
		return; /* another turn has read it */
	spooler_report(s);
}

/* Starts the thread with all signals blocked, because the loop handles the daemon's signals. */
static int start_thread(struct spooler *s, struct err *e)
{
	sigset_t all, was;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	rc = pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return rc ? err_set(e, ERR_SYS, "no thread for %s: %s", s->path, strerror(rc)) : 0;
}

static int start(struct spooler *s, struct err *e)
{
	int rc;

	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->event_fd < 0)
		return err_sys(e, "eventfd");
	s->watch = loop_fd_new(
		s->loop,
		&(struct loop_watch){
			.fd = s->event_fd, .what = LOOP_READ, .fn = on_event, .arg = s },
		e);
	if (!s->watch)
		return e ? -(int)e->code : -ERR_NOMEM;
	rc = start_thread(s, e);
	if (rc)
		loop_fd_free(s->watch);
	return rc;
}

static void work(struct spooler *s)
{
	pthread_cond_signal(&s->wake);
}

static void report(struct spooler *s)
{
	const uint64_t one = 1;
	ssize_t n = write(s->event_fd, &one, sizeof(one));

	(void)n; /* a full eventfd means that the loop is awake */
}

static void close_it(struct spooler *s)
{
	struct timespec end_at;
	bool has_ended;
	pthread_t thread;

	loop_fd_free(s->watch);
	until(&end_at, clock_mono() + SPOOLER_CLOSE_NS);
	pthread_mutex_lock(&s->lock);
	thread = s->thread;
	s->is_closing = s->has_work = true;
	pthread_cond_signal(&s->wake);
	while (!s->has_ended && pthread_cond_timedwait(&s->ended, &s->lock, &end_at) != ETIMEDOUT)
		;
	has_ended = s->has_ended;
	s->is_left = !has_ended;
	pthread_mutex_unlock(&s->lock);
	if (has_ended) {
		pthread_join(thread, NULL);
		spooler_free(s);
	} else {
		pthread_detach(thread); /* the thread frees s when the disk responds */
	}
}

const struct spooler_way spooler_thread = {
	.start = start, .work = work, .report = report, .close = close_it
};
