/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that programs make: open, flush, close. */
#include "eventlog/app/event.h"

#include "common/base/rng.h"
#include "common/base/str.h"
#include "eventlog/app/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int open_file(const char *to, unsigned flags)
{
	static const char scheme[] = "file://";

	if (str_has_prefix(to, scheme))
		to += sizeof(scheme) - 1;
	return open(to,
		    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
			    (flags & OMIG_EVENT_APPEND ? 0 : O_TRUNC),
		    0666);
}

static unsigned level_wanted(void)
{
	const char *word = secure_getenv("OMIG_EVENT_LEVEL");
	unsigned level = EV_NLEVELS;

	if (word)
		evlevel_from_name(word, strlen(word), &level);
	return level;
}

/* Seconds; each second when it is not given, or no number. */
static nsec_t trigger_interval(void)
{
	const char *text = secure_getenv("OMIG_EVENT_TRIGGER_INTERVAL");
	double sec;

	if (!text || str_to_double(text, 0, EVTRIGGER_INTERVAL_MAX_S, &sec))
		return 0;
	return (nsec_t)(sec * 1e9);
}

static void begin(struct log_state *s, int fd, unsigned flags)
{
	const char *trigger = secure_getenv("OMIG_EVENT_TRIGGER");

	log_lock(s);
	log_clock_start(s);
	log_say_who(s);
	s->fd = fd;
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
	int fd = -1;

	if (!to)
		to = secure_getenv("OMIG_EVENT_LOG");
	inproc_lock(&s->opening);
	if (s->fd >= 0)
		errno = EBUSY;
	else if (!to || rng_fill_random(&stream, sizeof(stream), NULL))
		errno = EINVAL;
	else
		fd = open_file(to, flags);
	if (fd >= 0) {
		s->stream = stream;
		log_helper_start(s);
		log_handlers_set(s);
		begin(s, fd, flags);
	}
	inproc_unlock(&s->opening);
	return fd < 0 ? -1 : 0;
}

int omig_event_flush(void)
{
	struct log_state *s = log_the();
	int fd;

	log_lock(s);
	fd = s->fd;
	if (fd >= 0)
		log_drain_all(s, true);
	log_unlock(s);
	if (fd >= 0)
		return 0;
	errno = EBADF;
	return -1;
}

int omig_event_close(void)
{
	struct log_state *s = log_the();
	int fd;

	inproc_lock(&s->opening);
	log_lock(s);
	fd = s->fd;
	if (fd >= 0) {
		s->fd = -1;
		log_types_switch(s); /* no new records, then the last ones */
		s->fd = fd;
		log_drain_all(s, true);
		log_end_all(s);
		s->fd = -1;
	}
	log_unlock(s);
	inproc_unlock(&s->opening);
	if (fd >= 0)
		return close(fd);
	errno = EBADF;
	return -1;
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
 * A program may not call us at all: its events are appended to the file that the environment names.
 */
static void __attribute__((constructor)) open_by_environment(void)
{
	if (secure_getenv("OMIG_EVENT_LOG"))
		omig_event_open(NULL, OMIG_EVENT_APPEND);
	log_link_open();
}
