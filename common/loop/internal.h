/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share. */
#ifndef COMMON_LOOP_INTERNAL_H
#define COMMON_LOOP_INTERNAL_H

#include "common/base/list.h"
#include "common/loop/loop.h"

#include <stddef.h>
#include <stdint.h>

struct event;
struct event_base;

/*
 * Timers lie in a binary heap of our own in both kinds of loop: one order,
 * and a real loop needs one timerfd, moved only when the earliest time
 * moves forward, instead of a system call per timer. libevent's own timers
 * would be late by up to 4 ms (coarse clock) or cost a call per wait.
 */
struct loop {
	struct event_base *base; /* NULL: virtual */
	nsec_t virtual_now;
	struct loop_timer **heap;
	size_t armed; /* timers in the heap */
	size_t timers, cap; /* timers that exist; cap >= timers: arming never allocates */
	uint64_t seq;
	int timerfd;
	struct event *timerfd_event;
	nsec_t wake_at; /* what the timerfd is set to; 0: nothing */
	struct list posts, reaps, fds, signals;
	size_t nfds, nsignals;
	uint64_t called; /* callbacks so far */
	int pollfd; /* -1: nobody asked */
	bool in_turn, stopping;
	void *owner; /* whose work is under way; borrowed */
};

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
