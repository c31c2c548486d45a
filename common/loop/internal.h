/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room. */
#ifndef COMMON_LOOP_INTERNAL_H
#define COMMON_LOOP_INTERNAL_H

#include "common/container/list.h"
#include "common/loop/loop.h"

#include <stddef.h>
#include <stdint.h>

struct event;
struct event_base;

/*
 * The clock of a part: it shows here_ns when the clock of the whole shows whole_ns, and runs faster
 * by ppb.
 */
struct loop_part {
	struct list at; /* in the list of parts of the whole */
	nsec_t here_ns, whole_ns;
	int64_t ppb;
	nsec_t held_until; /* end of the hold, by the clock of the whole; 0: not held */
	struct list posts, timers; /* posts and timers that wait until the end of the hold */
	struct loop_timer *resume; /* timer of the whole */
	void *maker; /* borrowed */
};

/*
 * Both kinds of loop have timers in a heap of our own, so that their order is the same. A real loop
 * needs one timerfd instead of a system call for each timer. It is set only when the earliest time
 * becomes earlier. libevent's own timers would be late by up to 4 ms (coarse clock), or cost a call
 * for each wait.
 */
struct timer_slot {
	nsec_t at;
	uint64_t seq; /* number of the arming, so that equal times stay in order */
	struct loop_timer *timer;
};

struct loop {
	/*
	 * the loop that contains this part and has its timers, posts and all members below; the
	 * loop itself if it is not a part
	 */
	struct loop *whole;
	struct loop_part part; /* if the loop is a part */
	struct event_base *base; /* NULL: a virtual loop */
	nsec_t virtual_now;
	struct timer_slot *heap;
	size_t armed; /* armed timers, in the heap */
	/* existing timers, also those of parts; cap >= timers, so that arming never allocates */
	size_t timers, cap;
	uint64_t seq;
	int timerfd;
	struct event *timerfd_event;
	nsec_t wake_at; /* time for which the timerfd is set; 0: none */
	struct list posts, reaps, fds, signals, parts;
	struct loop *running; /* part whose callback runs; the loop itself: none */
	size_t nfds, nsignals;
	uint64_t called; /* number of callbacks so far */
	int pollfd; /* -1: loop_pollfd() was not called */
	bool in_turn, stopping;
};

/* timer.c: puts timers of a part that were due during a hold back into the heap */
void timers_put_back(struct loop *part);

/* part.c: returns the time of the whole at which a part's clock shows `at`, or slightly later */
nsec_t part_to_whole(const struct loop *l, nsec_t at);
nsec_t part_from_whole(const struct loop *l, nsec_t at);
void parts_free(struct loop *whole);

/* loop.c: drops posts without running them */
void posts_drop(struct list *posts);

struct loop_fd {
	struct list at;
	struct loop *loop;
	int fd;
	unsigned what;
	unsigned ready; /* for a virtual loop: events that this turn's poll has found */
	struct event *read, *write; /* for a real loop: made when first needed */
	void (*fn)(void *, unsigned);
	void *arg;
};

/*
 * timer.c: runs the earliest timer, if it is due at `until` and was armed no later than `last`.
 * Without `last`, a timer that arms itself again for the same time would run endlessly.
 */
bool timers_run_first(struct loop *l, nsec_t until, uint64_t last);

/* loop.c: called when an event may be due earlier than the timerfd */
void loop_rouse(struct loop *l);

/* fd.c: polls the descriptors of a virtual loop, and calls back */
void fds_poll_virtual(struct loop *l);

/* pollfd.c: changes the events of a watch in the second set. Fails with ERR_SYS */
int pollfd_change(struct loop_fd *f, unsigned before, unsigned what);

#endif
