/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper thread, which drains the buffers. It sleeps until a buffer is full or a second has
 * passed. Once a second it checks the trigger file. So the program never waits for a disk, except
 * with OMIG_EVENT_WAIT. This file also handles exit, fatal signals and fork().
 */
#include "eventlog/app/log.h"
#include "common/base/array.h"
#include "common/base/limits.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define FORKED_REST_NS (50 * NSEC_PER_MSEC) /* most child processes have called exec by then */
#define SIGNAL_TRIES 200 /* each waits 1 ms for a thread that is writing a block */

static void look_at_trigger(struct log_state *s)
{
	nsec_t wall = clock_wall();

	if (!s->trigger || !evtrigger_look(s->trigger, wall))
		return;
	/* Earlier records belong to the conditions before the change. */
	log_drain_all(s, true);
	log_types_switch(s);
}

static void *help(void *arg)
{
	struct log_state *s = arg;
	nsec_t due = clock_mono() + LOG_FLUSH_NS;
	uint32_t *bell = s->bell, seen = __atomic_load_n(bell, __ATOMIC_ACQUIRE) - 1;

	inproc_thread_begins();
	do {
		bool is_due;

		log_wait(s, bell, seen, due);
		bell = s->bell;
		seen = __atomic_load_n(bell, __ATOMIC_ACQUIRE);
		is_due = clock_mono() >= due;
		log_lock(s);
		if (s->link)
			log_types_switch(s);
		if (s->is_open && is_due)
			look_at_trigger(s);
		log_drain_all(s, is_due); /* without a log, this frees the buffers */
		log_threads_free_ended(s);
		log_unlock(s);
		if (is_due)
			due = clock_mono() + LOG_FLUSH_NS;
	} while (!inproc_is_alone());
	inproc_thread_ends();
	return NULL; /* the last thread: the program ends as it would without this library */
}

static bool start_thread(struct log_state *s, void *(*run)(void *))
{
	return !inproc_thread_start(run, s, "omig-event");
}

/*
 * A child process that runs longer is watched like its parent; the program does not wait for
 * that.
 */
static void *come_back(void *arg)
{
	const struct timespec rest = { .tv_nsec = FORKED_REST_NS };

	inproc_thread_begins();
	nanosleep(&rest, NULL);
	if (!inproc_is_alone())
		log_link_open();
	inproc_thread_ends();
	return NULL;
}

/* --- fork: the child has the parent's buffers and none of its threads */

static void before_fork(void)
{
	inproc_lock(&log_the()->opening);
	log_lock(log_the());
}

static void in_parent(void)
{
	log_unlock(log_the());
	inproc_unlock(&log_the()->opening);
}

static void in_child(void)
{
	struct log_state *s = log_the();

	inproc_no_threads();
	if (s->send)
		evsend_in_child(s->send);
	log_threads_forget(s);
	log_link_forget(s);
	log_say_who(s);
	s->stream ^= (uint64_t)getpid() << 40 ^
		     (uint64_t)clock_mono(); /* a child has separate streams */
	in_parent();
	s->has_helper = s->is_open && start_thread(s, help);
	if (s->follows_fork)
		start_thread(s, come_back);
}

static void at_end(void)
{
	omig_event_close();
}

void log_helper_start(struct log_state *s)
{
	if (!s->has_key) {
		s->has_key = !pthread_key_create(&s->key, log_thread_ended);
		pthread_atfork(before_fork, in_parent, in_child);
		atexit(at_end);
	}
	if (!s->has_helper)
		s->has_helper = start_thread(s, help);
}

/* --- signals that end the program */

static const int fatal[] = { SIGSEGV, SIGBUS,  SIGFPE, SIGILL, SIGABRT,
			     SIGSYS,  SIGTERM, SIGINT, SIGHUP, SIGQUIT };

/* Writes out all events and lets the signal take its normal effect. */
static void on_fatal(int number)
{
	struct log_state *s = log_the();
	struct timespec ms = { .tv_nsec = NSEC_PER_MSEC };
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	int tries = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	while (!inproc_trylock(&s->lock) && ++tries < SIGNAL_TRIES)
		nanosleep(&ms, NULL);
	/* If all tries fail, this thread has the lock, or its holder waits for a disk. */
	if (tries < SIGNAL_TRIES && s->is_open)
		log_drain_all(s, true);
	if (tries < SIGNAL_TRIES && s->send)
		evsend_flush(s->send, EVSEND_FATAL_NS);
	if (tries < SIGNAL_TRIES)
		log_unlock(s);
	sigaction(number, &dfl, NULL);
	raise(number); /* delivered when the handler ends */
}

/* Sets handlers only for signals without a handler of the program. */
void log_handlers_set(struct log_state *s)
{
	struct sigaction ours = { .sa_handler = on_fatal, .sa_flags = SA_ONSTACK }, is;
	const char *text = secure_getenv("OMIG_EVENT_SIGNALS");

	if (s->has_handlers || (text && text[0] == '0'))
		return;
	s->has_handlers = true;
	for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
		if (!sigaction(fatal[i], NULL, &is) && !(is.sa_flags & SA_SIGINFO) &&
		    is.sa_handler == SIG_DFL)
			sigaction(fatal[i], &ours, NULL);
}
