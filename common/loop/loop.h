/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread, one loop: file descriptors, timers, signals, deferred calls. A real loop waits in the
 * kernel (make it after fork()). A virtual one has a clock that only its caller moves. So a test of
 * an hour takes a millisecond and is repeatable.
 *
 * Order: timers run by time, equal times by the order of arming. Posts run in the order of posting,
 * after the callback (virtual) or the round of callbacks (real) that made them. Objects given to
 * loop_reap() are freed after the posts. That is one turn. Any callback may free anything, its own
 * source too. An object that was freed, cancelled or closed gets no further callback.
 */
#ifndef COMMON_LOOP_LOOP_H
#define COMMON_LOOP_LOOP_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/container/list.h"

#include <stdbool.h>

struct loop;

/* NULL: no memory, or (real) no more descriptors. */
struct loop *loop_new(void);
struct loop *loop_new_virtual(void);

/*
 * Frees the objects given to loop_reap(), drops posts that have not run. All timers, fds and
 * signals of the loop must have been freed. NULL is fine.
 */
void loop_free(struct loop *l);

bool loop_is_virtual(const struct loop *l);

/* Monotonic. A virtual clock starts at 1 s, so that 0 can mean "never". */
nsec_t loop_now(const struct loop *l);

/*
 * Blocks until loop_stop(). A virtual loop jumps from timer to timer and also returns when no event
 * can follow. -ERR_SYS if the kernel's wait fails. Not from a callback.
 */
int loop_run(struct loop *l);

/* From any callback, or before loop_run(): loop_run() returns after the turn. */
void loop_stop(struct loop *l);

/*
 * Runs one turn without waiting, for events that are ready or due. Not from a callback. 0,
 * -ERR_SYS.
 */
int loop_turn(struct loop *l);

/*
 * Blocks until a callback has run, at most for `max` (< 0: for ever). A virtual loop moves its
 * clock to the next timer, at most by max. Not from a callback. 0, -ERR_SYS.
 */
int loop_wait(struct loop *l, nsec_t max);

/*
 * Virtual only: moves the clock by `by` and runs everything that falls due on the way, each at its
 * own time. Returns true if anything ran.
 */
bool loop_advance(struct loop *l, nsec_t by);

/* Returns the time of the earliest timer, now if a post waits, -1 if there is neither. */
nsec_t loop_next_at(const struct loop *l);

/*
 * Returns a descriptor that polls readable when loop_turn() has something to do: for a program with
 * a poll() of its own. Made on the first call, owned by the loop. Signals do not wake it, and an fd
 * may have one watch only from then on. Real only (ERR_UNSUPPORTED). -1 on failure.
 */
int loop_pollfd(struct loop *l, struct err *e);

/* --- parts: the hosts of a simulated world */

/*
 * Makes a loop whose callbacks a virtual loop runs among its own. It has its own clock, which may
 * be faster or slower. It may be held as SIGSTOP holds a process. Functions that take a loop also
 * take a part; its times are those of its clock. Only the whole is run, and frees it. Descriptors
 * and signals are watched by the whole. NULL: no memory.
 */
struct loop *loop_new_part(struct loop *whole);

/*
 * Sets how much faster its clock runs than the whole's, in parts of 10^9; the clock does not step.
 */
void loop_part_set_rate(struct loop *part, int64_t ppb);

/*
 * Holds its callbacks for this time (of the whole's clock); those that fall due meanwhile run
 * afterwards. Its clock continues.
 */
void loop_part_hold(struct loop *part, nsec_t time);

/* Ends the hold of a part. */
void loop_part_release(struct loop *part);

/*
 * Returns the time at which a held part continues, by the clock of the whole; 0: not held, or no
 * part.
 */
nsec_t loop_held_until(const struct loop *l);

/* Returns the time of the whole's clock; for a loop that is no part, of its own. */
nsec_t loop_whole_now(const struct loop *l);

/*
 * Returns the part whose callback runs, or that of loop_enter(); otherwise the whole, which is l
 * itself if l is no part.
 */
struct loop *loop_running(const struct loop *l);

/*
 * Marks l as running, for a caller of code that belongs to it. Returns the previous loop_running(),
 * for another loop_enter().
 */
struct loop *loop_enter(struct loop *l);

/* Sets a pointer of its maker; borrowed, initially NULL. */
void loop_part_set_maker(struct loop *part, void *maker);
void *loop_part_maker(const struct loop *part);

/* --- timers: one shot */

struct loop_timer;

/* NULL: no memory. Arming needs no further memory, so it cannot fail. */
struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *), void *arg);

/* Fires once, `after` from now (<= 0: in the next turn); replaces an earlier arming. */
void loop_timer_arm(struct loop_timer *t, nsec_t after);
void loop_timer_arm_at(struct loop_timer *t, nsec_t at);
void loop_timer_arm_at_whole(struct loop_timer *t, nsec_t at); /* as loop_whole_now() has it */
void loop_timer_cancel(struct loop_timer *t);
bool loop_timer_is_armed(const struct loop_timer *t);
void loop_timer_free(struct loop_timer *t);

/* --- file descriptors: level-triggered */

enum loop_what { LOOP_READ = 1, LOOP_WRITE = 2 };

struct loop_fd;

struct loop_watch {
	int fd; /* borrowed; close it after loop_fd_free() */
	unsigned what; /* enum loop_what, or 0: a sleeping watch */
	/* Gets the ready events; hang-up and errors count as the watched ones. */
	void (*fn)(void *arg, unsigned ready);
	void *arg;
};

/* Under a virtual loop the fd is polled at each turn. ERR_NOMEM, ERR_SYS. NULL then. */
struct loop_fd *loop_fd_new(struct loop *l, const struct loop_watch *w, struct err *e);
/* Returns 0, or -ERR_SYS with the watch unchanged. */
int loop_fd_set(struct loop_fd *f, unsigned what);
void loop_fd_free(struct loop_fd *f);

/* --- signals, delivered as callbacks of the loop; one loop of a process at a time */

struct loop_signal;

struct loop_signal *loop_signal_new(struct loop *l, int signo, void (*fn)(void *, int), void *arg,
				    struct err *e);
void loop_signal_free(struct loop_signal *s);

/* Virtual only: simulates the signal; its callbacks run in the next turn. */
void loop_signal_raise(struct loop *l, int signo);

/* --- calls after this turn's callbacks */

/* Embedded in its object and zeroed: posting needs no memory. Private fields. */
struct loop_job {
	struct list at; /* next is NULL when not posted */
	struct loop *loop;
	void (*fn)(void *);
	void *arg;
};

/* Runs once, even if it is posted several times before; posts of posts run in the next turn. */
void loop_job_post(struct loop *l, struct loop_job *j, void (*fn)(void *), void *arg);
void loop_job_cancel(struct loop_job *j);

/*
 * Calls free_fn(obj) at the end of the turn, when no callback of obj is left on the stack. j may be
 * part of obj (and must not be posted). Cannot fail.
 */
void loop_reap(struct loop *l, struct loop_job *j, void (*free_fn)(void *), void *obj);

#endif
