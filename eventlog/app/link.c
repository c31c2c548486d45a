/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that are requested from outside the process. If the program runs with libomig, libomig has
 * the words that enable such events, and the rings for their records. The lm rings a bell (a futex)
 * after it has changed words.
 */
#include "eventlog/app/log.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void log_ring(struct log_state *s)
{
	uint32_t *bell = s->bell;

	__atomic_fetch_add(bell, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Waits without FUTEX_PRIVATE_FLAG, because another process may wake this one. */
void log_wait(struct log_state *s, uint32_t *bell, uint32_t seen, nsec_t until)
{
	struct timespec t = { .tv_sec = until / NSEC_PER_SEC, .tv_nsec = until % NSEC_PER_SEC };

	syscall(SYS_futex, bell, FUTEX_WAIT_BITSET, seen, &t, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Called in MPI_Init or when the process joins the monitor; also in a child process. */
static void on_ready(const struct event_link *link)
{
	struct log_state *s = log_the();
	int keep = errno;

	inproc_lock(&s->opening);
	log_lock(s);
	if (!s->link) {
		s->link = link;
		if (!s->is_open)
			/* starts the clock, so that new threads have the scale of ticks */
			log_clock_start(s);
		for (unsigned i = 1; i < s->ntype; i++)
			log_type_announce(s, &s->type[i]);
		log_helper_start(s);
		log_ring(s); /* the word on which the helper has waited so far */
		s->bell = link->bell;
	}
	log_unlock(s);
	inproc_unlock(&s->opening);
	errno = keep;
}

void log_link_forget(struct log_state *s)
{
	if (s->link) /* otherwise this is a child process that has not joined again */
		s->follows_fork = s->link->follows_fork;
	s->link = NULL;
	s->bell = &s->own_bell;
	for (unsigned i = 1; i < s->ntype; i++)
		s->type[i].number = -1;
	log_types_switch(s);
}

size_t omig_event_report(const struct omig_event *ev, struct omig_event_thread *h, size_t bytes)
{
	struct log_state *s = log_the();
	const struct event_link *link = s->link;
	int number = s->type[ev->number].number;

	if (link && number >= 0)
		link->put((unsigned)number, h ? h->at : NULL, h ? bytes : 0);
	return __atomic_load_n(&ev->on, __ATOMIC_RELAXED) & OMIG_EVENT_LOGGED ? bytes : 0;
}

/* Undefined in a program without libomig. */
extern __typeof__(omig_app_events_join) omig_app_events_join __attribute__((weak));

void log_link_open(void)
{
	static const struct event_side side = { EVENT_LINK_VERSION, on_ready };

	if (omig_app_events_join)
		omig_app_events_join(&side);
}
