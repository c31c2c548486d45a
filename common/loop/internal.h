/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share. */
#ifndef COMMON_LOOP_INTERNAL_H
#define COMMON_LOOP_INTERNAL_H

#include "common/container/list.h"
#include "common/loop/loop.h"

#include <stddef.h>
#include <stdint.h>

struct event;
struct event_base;

/* A clock that shows here_ns when that of the whole shows whole_ns, and goes ppb faster. */
struct loop_part {
	struct list at; /* in the whole's parts */
	nsec_t here_ns, whole_ns;
	int64_t ppb;
	nsec_t held_until; /* of the whole; 0: it is not */
	struct list posts, timers; /* that wait meanwhile */
	struct loop_timer *resume; /* of the whole */
	void *maker; /* borrowed */
};

/*
 * Timers lie in a binary heap of our own in both kinds of loop: one order.
 * A real loop needs one timerfd instead of a system call per timer. It is
 * moved only when the earliest time moves forward. libevent's own timers
 * would be late by up to 4 ms (coarse clock) or cost a call per wait.
 */
struct timer_slot {
	nsec_t at;
	uint64_t seq; /* of the arming: equal times keep their order */
	struct loop_timer *timer;
};

struct loop {
	/* what it is a part of: has its timers, posts and all below; itself when it is none */
	struct loop *whole;
	struct loop_part part; /* used when it is one */
	struct event_base *base; /* NULL: virtual */
	nsec_t virtual_now;
	struct timer_slot *heap;
	size_t armed; /* timers in the heap */
	/* timers that exist, of parts too; cap >= timers: arming never allocates */
	size_t timers, cap;
	uint64_t seq;
	int timerfd;
	struct event *timerfd_event;
	nsec_t wake_at; /* what the timerfd is set to; 0: nothing */
	struct list posts, reaps, fds, signals, parts;
	struct loop *running; /* whose work is under way; itself: that of no part */
	size_t nfds, nsignals;
	uint64_t called; /* callbacks so far */
	int pollfd; /* -1: loop_pollfd() was not called */
	bool in_turn, stopping;
};

/* timer.c: those that a part could not run when they were due, as they were */
void timers_put_back(struct loop *part);

/* part.c: the time of the whole at which a part's clock shows `at`, or a moment later */
nsec_t part_to_whole(const struct loop *l, nsec_t at);
nsec_t part_from_whole(const struct loop *l, nsec_t at);
void parts_free(struct loop *whole);

/* loop.c: without running them */
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
 * timer.c: runs the earliest timer if it is due at `until` and was armed no later
 * than `last` says: one that arms itself again for the same instant could keep us
 * for ever.
 */
bool timers_run_first(struct loop *l, nsec_t until, uint64_t last);

/* loop.c: something may have to happen earlier than the timerfd says */
void loop_rouse(struct loop *l);

/* fd.c: polls the descriptors of a virtual loop and calls back */
void fds_poll_virtual(struct loop *l);

/* pollfd.c: what is watched goes from one set to the other. 0 or -ERR_SYS */
int pollfd_change(struct loop_fd *f, unsigned before, unsigned what);

#endif
