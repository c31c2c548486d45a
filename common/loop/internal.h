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

/* A clock that shows here_ns when that of the whole shows whole_ns, and runs faster by ppb. */
struct loop_part {
	struct list at; /* in the list of parts of the whole */
	nsec_t here_ns, whole_ns;
	int64_t ppb;
	nsec_t held_until; /* by the clock of the whole; 0: not held */
	struct list posts, timers; /* posts and timers that wait meanwhile */
	struct loop_timer *resume; /* of the whole */
	void *maker; /* borrowed */
};

/*
 * Timers are in a binary heap of our own in both kinds of loop: one order. A real loop needs one
 * timerfd instead of a system call per timer. It is moved only when the earliest time moves
 * forward. libevent's own timers would be late by up to 4 ms (coarse clock) or cost a call per
 * wait.
 */
struct timer_slot {
	nsec_t at;
	uint64_t seq; /* number of the arming: equal times keep their order */
	struct loop_timer *timer;
};

struct loop {
	/*
	 * the loop that contains this part, with its timers, posts and everything below; itself if
	 * it is no part
	 */
	struct loop *whole;
	struct loop_part part; /* used when it is one */
	struct event_base *base; /* NULL: virtual */
	nsec_t virtual_now;
	struct timer_slot *heap;
	size_t armed; /* timers in the heap */
	/* existing timers, also of parts; cap >= timers: arming never allocates */
	size_t timers, cap;
	uint64_t seq;
	int timerfd;
	struct event *timerfd_event;
	nsec_t wake_at; /* time set in the timerfd; 0: none */
	struct list posts, reaps, fds, signals, parts;
	struct loop *running; /* the part whose callback runs; itself: no part */
	size_t nfds, nsignals;
	uint64_t called; /* callbacks so far */
	int pollfd; /* -1: loop_pollfd() was not called */
	bool in_turn, stopping;
};

/* timer.c: puts back the timers that a part could not run when they were due */
void timers_put_back(struct loop *part);

/* part.c: returns the time of the whole at which a part's clock shows `at`, or a moment later */
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
	unsigned ready; /* virtual: found by this turn's poll */
	struct event *read, *write; /* real; made when first wanted */
	void (*fn)(void *, unsigned);
	void *arg;
};

/*
 * timer.c: runs the earliest timer if it is due at `until` and was armed no later than `last`.
 * Otherwise a timer that arms itself again for the same instant would run for ever.
 */
bool timers_run_first(struct loop *l, nsec_t until, uint64_t last);

/* loop.c: something may be due earlier than the timerfd is set */
void loop_rouse(struct loop *l);

/* fd.c: polls the descriptors of a virtual loop and calls back */
void fds_poll_virtual(struct loop *l);

/* pollfd.c: moves a watch from one set to the other. Returns 0 or -ERR_SYS */
int pollfd_change(struct loop_fd *f, unsigned before, unsigned what);

#endif
