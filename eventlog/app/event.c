/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that programs make: open, flush, close. */
#include "eventlog/app/event.h"

#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "eventlog/app/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Opens a path, or a URL, which contains ://. Returns 0, or -1 with errno. */
static int open_output(struct log_state *s, const char *to, unsigned flags)
{
	struct err e = { 0 };
	struct evurl url;

	if (evurl_parse(to, &url, &e)) {
		errno = e.code == ERR_INVALID ? EINVAL : EPROTONOSUPPORT;
		return -1;
	}
	if (url.kind != EVURL_FILE) {
		if (!evsend_open(&url, &s->send, &e))
			return 0;
		errno = e.code == ERR_NOMEM ? ENOMEM : EAGAIN;
		return -1;
	}
	s->fd = open(url.path,
		     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
			     (flags & OMIG_EVENT_APPEND ? 0 : O_TRUNC),
		     0666);
	return s->fd < 0 ? -1 : 0;
}

static unsigned level_wanted(void)
{
	const char *word = secure_getenv("OMIG_EVENT_LEVEL");
	unsigned level = EV_NLEVELS;

	if (word)
		evlevel_from_name(word, strlen(word), &level);
	return level;
}

/* Returns the interval in seconds, or one second if the variable is missing or not a number. */
static nsec_t trigger_interval(void)
{
	const char *text = secure_getenv("OMIG_EVENT_TRIGGER_INTERVAL");
	double sec;

	if (!text || str_to_double(text, 0, EVTRIGGER_INTERVAL_MAX_S, &sec))
		return 0;
	return (nsec_t)(sec * 1e9);
}

static void begin(struct log_state *s, unsigned flags)
{
	const char *trigger = secure_getenv("OMIG_EVENT_TRIGGER");

	log_lock(s);
	log_clock_start(s);
	log_say_who(s);
	s->is_open = true;
	s->flags = flags;
	s->level = level_wanted();
	s->lost = 0;
	log_threads_renew(s);
	if (trigger && !s->trigger)
		s->trigger = evtrigger_new(trigger, trigger_interval());
	if (s->trigger)
		evtrigger_look(s->trigger, clock_wall());
	log_types_switch(s);
	log_unlock(s);
}

int omig_event_open(const char *to, unsigned flags)
{
	struct log_state *s = log_the();
	uint64_t stream;
	int rc = -1;

	if (!to)
		to = secure_getenv("OMIG_EVENT_LOG");
	inproc_lock(&s->opening);
	if (s->is_open)
		errno = EBUSY;
	else if (!to || rng_fill_random(&stream, sizeof(stream), NULL))
		errno = EINVAL;
	else
		rc = open_output(s, to, flags);
	if (!rc) {
		s->stream = stream;
		log_helper_start(s);
		log_handlers_set(s);
		begin(s, flags);
	}
	inproc_unlock(&s->opening);
	return rc;
}

int omig_event_flush(void)
{
	struct log_state *s = log_the();
	struct evsend *send;
	int failure;

	/*
	 * Waits for a receiver without holding `lock`. `opening`, which is held, keeps the log
	 * open.
	 */
	inproc_lock(&s->opening);
	log_lock(s);
	failure = s->is_open ? 0 : EBADF;
	send = s->send;
	if (s->is_open)
		log_drain_all(s, true);
	log_unlock(s);
	if (!failure && send && !evsend_flush(send, EVSEND_CLOSE_NS))
		failure = ETIMEDOUT;
	inproc_unlock(&s->opening);
	errno = failure ? failure : errno;
	return failure ? -1 : 0;
}

/* Closes the output, with `opening` held. Returns 0, or -1 with errno. */
static int close_output(struct log_state *s)
{
	struct evsend *send = s->send;
	int fd = s->fd;
	char why[EVSEND_WHY_BYTES];
	uint64_t lost;

	s->send = NULL;
	s->fd = -1;
	log_unlock(s);
	lost = evsend_close(send, EVSEND_CLOSE_NS, why);
	log_lock(s);
	s->lost += lost;
	if (!lost)
		return fd >= 0 ? close(fd) : 0;
	fprintf(stderr, "libomig-event: the receiver has not confirmed %" PRIu64 " events%s\n",
		lost, why);
	errno = ETIMEDOUT;
	return -1;
}

int omig_event_close(void)
{
	struct log_state *s = log_the();
	int rc = -1;

	inproc_lock(&s->opening);
	log_lock(s);
	errno = EBADF;
	if (s->is_open) {
		s->is_open = false;
		log_types_switch(s); /* first no new records, then the last ones */
		s->is_open = true;
		log_drain_all(s, true);
		log_end_all(s);
		s->is_open = false;
		rc = close_output(s);
	}
	log_unlock(s);
	inproc_unlock(&s->opening);
	return rc;
}

uint64_t omig_event_lost(void)
{
	struct log_state *s = log_the();
	uint64_t lost;

	log_lock(s);
	lost = s->lost;
	for (const struct log_thread *t = s->threads; t; t = t->next)
		lost += log_thread_lost(t);
	log_unlock(s);
	return lost;
}

/*
 * A program may not call omig_event_open() at all: its events are appended to the file in
 * OMIG_EVENT_LOG.
 */
static void __attribute__((constructor)) open_by_environment(void)
{
	if (secure_getenv("OMIG_EVENT_LOG"))
		omig_event_open(NULL, OMIG_EVENT_APPEND);
	log_link_open();
}
