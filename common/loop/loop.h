/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread, one loop: file descriptors, timers, signals, deferred calls. A real loop waits in the
 * kernel (make it after fork()). A virtual loop has a clock that only its caller moves. So a test
 * of an hour takes a millisecond and is repeatable.
 *
 * Order: timers run by time, equal times by the order of arming. Posts run in the order of posting,
 * after the callback (virtual) or the round of callbacks (real) that made them. Objects of
 * loop_reap() are freed after the posts. All of this is one turn. Any callback may free any object,
 * also its own source. An object that was freed, cancelled or closed gets no further callback.
 */
#ifndef COMMON_LOOP_LOOP_H
#define COMMON_LOOP_LOOP_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/container/list.h"

#include <stdbool.h>

struct loop;

/* Returns NULL without memory, or, for a real loop, without descriptors. */
struct loop *loop_new(void);
struct loop *loop_new_virtual(void);

/*
 * Frees the objects of loop_reap(), and drops posts that have not run. All timers, fds and signals
 * of the loop must have been freed. NULL is accepted.
 */
void loop_free(struct loop *l);

bool loop_is_virtual(const struct loop *l);

/* Returns monotonic time. A virtual clock starts at 1 s, so that 0 can mean "never". */
nsec_t loop_now(const struct loop *l);

/*
 * Blocks until loop_stop(). A virtual loop jumps from timer to timer, and also returns when no
 * event can follow. Fails with ERR_SYS if the kernel's wait fails. Not to be called from a
 * callback.
 */
int loop_run(struct loop *l);

/* Makes loop_run() return after the turn. Called from any callback, or before loop_run(). */
void loop_stop(struct loop *l);

/*
 * Runs one turn without waiting, for events that are ready or due. Not to be called from a
 * callback. Fails with ERR_SYS.
 */
int loop_turn(struct loop *l);

/*
 * Blocks until a callback has run, at most for `max` (< 0: without limit). A virtual loop moves its
 * clock to the next timer, at most by max. Not to be called from a callback. Fails with ERR_SYS.
 */
int loop_wait(struct loop *l, nsec_t max);

/*
 * For a virtual loop: moves the clock by `by`, and runs everything that becomes due, each callback
 * at its own time. Returns true if any has run.
 */
bool loop_advance(struct loop *l, nsec_t by);

/* Returns the time of the earliest timer; now if a post waits; -1 if there is neither. */
nsec_t loop_next_at(const struct loop *l);

/*
 * For a program with its own poll(): returns a descriptor that is readable when loop_turn() has
 * something to do. It is made by the first call, and owned by the loop. Signals do not wake it, and
 * from then on an fd may have one watch only. Fails, with -1, with ERR_UNSUPPORTED for a virtual
 * loop, ERR_SYS.
 */
int loop_pollfd(struct loop *l, struct err *e);

/* --- parts: the hosts of a simulated world */

/*
 * Makes a part of a virtual loop: a loop whose callbacks run among those of the whole. A part has
 * its own clock, which may be faster or slower. It may be held, like a process by SIGSTOP.
 * Functions that take a loop also take a part, with times of its clock. Only the whole is run, and
 * it frees the part. The whole watches descriptors and signals. Returns NULL without memory.
 */
struct loop *loop_new_part(struct loop *whole);

/*
 * Sets how much faster the part's clock runs than that of the whole, in parts of 10^9. The clock
 * does not step.
 */
void loop_part_set_rate(struct loop *part, int64_t ppb);

/*
 * Delays the part's callbacks for this time of the whole's clock. The part's own clock continues.
 */
void loop_part_hold(struct loop *part, nsec_t time);

/* Ends the hold of a part. */
void loop_part_release(struct loop *part);

/*
 * Returns the time at which a held part continues, by the clock of the whole; 0 if it is not held,
 * or not a part.
 */
nsec_t loop_held_until(const struct loop *l);

/* Returns the time of the whole's clock; for a loop that is not a part, its own. */
nsec_t loop_whole_now(const struct loop *l);

/*
 * Returns the part whose callback runs, or that of loop_enter(). Otherwise returns the whole, which
 * is l itself if l is not a part.
 */
struct loop *loop_running(const struct loop *l);

/*
 * Marks l as running, for a caller of code that belongs to it. Returns the previous loop_running(),
 * for another call of loop_enter().
 */
struct loop *loop_enter(struct loop *l);

/* Sets a pointer for the maker of the part; borrowed, initially NULL. */
void loop_part_set_maker(struct loop *part, void *maker);
void *loop_part_maker(const struct loop *part);

/* --- timers: one shot */

struct loop_timer;

/* Returns NULL without memory. Arming needs no further memory, so it cannot fail. */
struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *), void *arg);

/* Fires once, `after` from now (<= 0: in the next turn). Replaces an earlier arming. */
void loop_timer_arm(struct loop_timer *t, nsec_t after);
void loop_timer_arm_at(struct loop_timer *t, nsec_t at);
void loop_timer_arm_at_whole(struct loop_timer *t, nsec_t at); /* at: a time of loop_whole_now() */
void loop_timer_cancel(struct loop_timer *t);
bool loop_timer_is_armed(const struct loop_timer *t);
void loop_timer_free(struct loop_timer *t);

/* --- file descriptors: level-triggered */

enum loop_what { LOOP_READ = 1, LOOP_WRITE = 2 };

struct loop_fd;

struct loop_watch {
	int fd; /* borrowed; close it after loop_fd_free() */
	unsigned what; /* enum loop_what; 0: the watch is inactive */
	/* Gets the ready events. Hang-up and errors count as the watched events. */
	void (*fn)(void *arg, unsigned ready);
	void *arg;
};

/*
 * In a virtual loop the fd is polled in each turn. Returns NULL, with ERR_NOMEM, ERR_SYS, on
 * failure.
 */
struct loop_fd *loop_fd_new(struct loop *l, const struct loop_watch *w, struct err *e);
/* Fails with ERR_SYS, and leaves the watch unchanged. */
int loop_fd_set(struct loop_fd *f, unsigned what);
void loop_fd_free(struct loop_fd *f);

/*
 * --- signals, delivered as callbacks of the loop; only one loop of a process at a time may have
 * them
 */

struct loop_signal;

struct loop_signal *loop_signal_new(struct loop *l, int signo, void (*fn)(void *, int), void *arg,
				    struct err *e);
void loop_signal_free(struct loop_signal *s);

/* For a virtual loop: simulates the signal, whose callbacks run in the next turn. */
void loop_signal_raise(struct loop *l, int signo);

/* --- calls after this turn's callbacks */

/* Embedded in its object and zeroed, so that posting needs no memory. The members are private. */
struct loop_job {
	struct list at; /* next is NULL if it is not posted */
	struct loop *loop;
	void (*fn)(void *);
	void *arg;
};

/*
 * Runs fn once, even if the job is posted several times before. Posts of posts run in the next
 * turn.
 */
void loop_job_post(struct loop *l, struct loop_job *j, void (*fn)(void *), void *arg);
void loop_job_cancel(struct loop_job *j);

/*
 * Calls free_fn(obj) at the end of the turn, when no callback of obj is on the stack. j may be a
 * part of obj, and must not be posted. Cannot fail.
 */
void loop_reap(struct loop *l, struct loop_job *j, void (*free_fn)(void *), void *obj);

#endif
