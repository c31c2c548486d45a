/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/rng.h"
#include "common/loop/loop.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct loop *loop;
static char trace[256];

static void note(const char *what)
{
	strncat(trace, what, sizeof(trace) - strlen(trace) - 1);
}

static void note_arg(void *arg)
{
	note(arg);
}

static void set_up(void)
{
	loop = loop_new_virtual();
	trace[0] = 0;
}

static void clean_up(void)
{
	loop_free(loop);
}

TEST(timers_run_by_time_and_equal_times_in_the_order_of_arming)
{
	struct loop_timer *t[4];

	for (int i = 0; i < 4; i++)
		t[i] = loop_timer_new(loop, note_arg,
				      (void *)(uintptr_t)(i == 0   ? "a"
							  : i == 1 ? "b"
							  : i == 2 ? "c"
								   : "d"));
	loop_timer_arm(t[2], 10);
	loop_timer_arm(t[0], 20);
	loop_timer_arm(t[3], 10);
	loop_timer_arm(t[1], 5);
	ck_assert(loop_advance(loop, 100));
	ck_assert_str_eq(trace, "bcda");
	for (int i = 0; i < 4; i++)
		loop_timer_free(t[i]);
}

static nsec_t seen_at;

static void note_time(void *arg)
{
	seen_at = loop_now(loop);
}

TEST(a_timer_has_its_own_time_and_the_clock_the_requested_end)
{
	struct loop_timer *t = loop_timer_new(loop, note_time, NULL);
	nsec_t start = loop_now(loop);

	ck_assert_int_gt(start, 0);
	loop_timer_arm(t, 30 * NSEC_PER_SEC);
	ck_assert(!loop_advance(loop, 29 * NSEC_PER_SEC));
	ck_assert_int_eq(loop_next_at(loop), start + 30 * NSEC_PER_SEC);
	ck_assert(loop_advance(loop, 5 * NSEC_PER_SEC));
	ck_assert_int_eq(seen_at, start + 30 * NSEC_PER_SEC);
	ck_assert_int_eq(loop_now(loop), start + 34 * NSEC_PER_SEC);
	ck_assert_int_eq(loop_next_at(loop), -1);
	loop_timer_free(t);
}

static struct loop_timer *self;
static int left;

static void again(void *arg)
{
	note("t");
	if (--left)
		loop_timer_arm(self, 0);
}

TEST(a_timer_that_arms_itself_for_now_runs_once_a_turn)
{
	self = loop_timer_new(loop, again, NULL);
	left = 3;
	loop_timer_arm(self, 0);
	loop_turn(loop);
	ck_assert_str_eq(trace, "t");
	loop_advance(loop, 0);
	ck_assert_str_eq(trace, "ttt");
	loop_timer_free(self);
}

static void free_self(void *arg)
{
	note("f");
	loop_timer_free(self);
	self = NULL;
}

TEST(a_timer_may_free_itself_and_a_cancelled_one_is_silent)
{
	struct loop_timer *other = loop_timer_new(loop, note_arg, (void *)(uintptr_t) "never");

	self = loop_timer_new(loop, free_self, NULL);
	loop_timer_arm(self, 1);
	loop_timer_arm(other, 2);
	ck_assert(loop_timer_is_armed(other));
	loop_timer_cancel(other);
	ck_assert(!loop_timer_is_armed(other));
	loop_advance(loop, 10);
	ck_assert_str_eq(trace, "f");
	loop_timer_free(other);
}

static struct loop_job job, second;

static void post_again(void *arg)
{
	note("1");
	loop_job_post(loop, &second, note_arg, (void *)(uintptr_t) "2");
	note("(");
}

static void free_note(void *arg)
{
	note(arg);
}

TEST(posts_run_in_order_once_and_what_is_reaped_goes_after_them)
{
	struct loop_job grave = { 0 }, other = { 0 };

	loop_reap(loop, &grave, free_note, (void *)(uintptr_t) "R");
	loop_job_post(loop, &job, post_again, NULL);
	loop_job_post(loop, &job, post_again, NULL);
	loop_job_post(loop, &other, note_arg, (void *)(uintptr_t) "p");
	ck_assert_int_eq(loop_next_at(loop), loop_now(loop));
	loop_turn(loop);
	ck_assert_str_eq(trace, "1(pR");
	loop_turn(loop);
	ck_assert_str_eq(trace, "1(pR2");
}

TEST(a_cancelled_job_does_not_run)
{
	loop_job_post(loop, &job, note_arg, (void *)(uintptr_t) "x");
	loop_job_cancel(&job);
	loop_job_cancel(&job);
	loop_turn(loop);
	ck_assert_str_eq(trace, "");
}

static void cancel_second(void *arg)
{
	note("a");
	loop_job_cancel(&second);
}

TEST(a_post_may_cancel_the_one_behind_it)
{
	loop_job_post(loop, &job, cancel_second, NULL);
	loop_job_post(loop, &second, note_arg, (void *)(uintptr_t) "never");
	loop_turn(loop);
	ck_assert_str_eq(trace, "a");
}

static void stop_it(void *arg)
{
	loop_stop(loop);
}

TEST(run_ends_when_nothing_is_left_or_on_request)
{
	struct loop_timer *a = loop_timer_new(loop, note_arg, (void *)(uintptr_t) "a");
	struct loop_timer *b = loop_timer_new(loop, stop_it, NULL);

	loop_timer_arm(a, 3600 * NSEC_PER_SEC);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_str_eq(trace, "a");
	loop_timer_arm(b, 1);
	loop_timer_arm(a, 2);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_str_eq(trace, "a");
	ck_assert(loop_timer_is_armed(a));
	loop_timer_free(a);
	loop_timer_free(b);
}

TEST(wait_moves_the_clock_to_the_next_timer_at_most_by_its_bound)
{
	struct loop_timer *a = loop_timer_new(loop, note_arg, (void *)(uintptr_t) "a");
	nsec_t start = loop_now(loop);

	loop_timer_arm(a, 100);
	loop_wait(loop, 40);
	ck_assert_str_eq(trace, "");
	ck_assert_int_eq(loop_now(loop), start + 40);
	loop_wait(loop, 1000);
	ck_assert_str_eq(trace, "a");
	ck_assert_int_eq(loop_now(loop), start + 100);
	loop_timer_free(a);
}

static void on_signal(void *arg, int signo)
{
	ck_assert_int_eq(signo, SIGHUP);
	note("s");
}

TEST(a_raised_signal_is_delivered_in_the_next_turn)
{
	struct loop_signal *s = loop_signal_new(loop, SIGHUP, on_signal, NULL, NULL);

	loop_signal_raise(loop, SIGTERM);
	loop_signal_raise(loop, SIGHUP);
	ck_assert_str_eq(trace, "");
	loop_turn(loop);
	ck_assert_str_eq(trace, "s");
	loop_signal_raise(loop, SIGHUP);
	loop_signal_free(s);
	loop_turn(loop);
	ck_assert_str_eq(trace, "s");
}

static struct loop_fd *watch[2];
static int ends[2];

static void read_one(void *arg, unsigned what)
{
	char c;

	ck_assert_uint_eq(what, LOOP_READ);
	ck_assert_int_eq(read(ends[0], &c, 1), 1);
	note("r");
	loop_fd_free(watch[1]);
	watch[1] = NULL;
}

static void never(void *arg, unsigned what)
{
	note("never");
}

TEST(a_descriptor_is_polled_each_turn_and_a_freed_watch_never)
{
	ck_assert_int_eq(pipe(ends), 0);
	watch[0] = loop_fd_new(
		loop, &(struct loop_watch){ .fd = ends[0], .what = LOOP_READ, .fn = read_one },
		NULL);
	watch[1] = loop_fd_new(
		loop, &(struct loop_watch){ .fd = ends[1], .what = LOOP_WRITE, .fn = never }, NULL);
	ck_assert_int_eq(loop_fd_set(watch[1], 0), 0);
	loop_turn(loop);
	ck_assert_str_eq(trace, "");
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ck_assert_int_eq(loop_fd_set(watch[1], LOOP_WRITE), 0);
	loop_turn(loop);
	ck_assert_str_eq(trace, "r");
	loop_fd_free(watch[0]);
	close(ends[0]);
	close(ends[1]);
}

TEST(a_virtual_loop_has_nothing_to_poll)
{
	struct err e = { 0 };

	ck_assert_int_eq(loop_pollfd(loop, &e), -1);
	ck_assert_int_eq(e.code, ERR_UNSUPPORTED);
	ck_assert(loop_is_virtual(loop));
}

/* A plain model: the order of a stable sort by time. */
#define MODEL_TIMERS 60
struct model {
	struct loop_timer *timer;
	nsec_t at;
	int seq, ran;
};
static struct model model[MODEL_TIMERS];
static nsec_t last_at;
static int last_seq, runs;

static void on_model(void *arg)
{
	struct model *m = arg;

	ck_assert_int_eq(m->at, loop_now(loop));
	ck_assert(m->at > last_at || (m->at == last_at && m->seq > last_seq));
	last_at = m->at;
	last_seq = m->seq;
	m->ran++;
	runs++;
}

TEST(any_arming_and_cancelling_keeps_the_order_of_a_stable_sort)
{
	struct rng r;
	int armed = 0, seq = 0;

	rng_init(&r, suite_seed(11));
	for (int i = 0; i < MODEL_TIMERS; i++)
		model[i].timer = loop_timer_new(loop, on_model, &model[i]);
	for (int i = 0; i < 2000; i++) {
		struct model *m = &model[rng_below(&r, MODEL_TIMERS)];

		if (rng_below(&r, 3) == 0) {
			loop_timer_cancel(m->timer);
			continue;
		}
		m->at = loop_now(loop) + (nsec_t)rng_below(&r, 20);
		m->seq = ++seq;
		loop_timer_arm_at(m->timer, m->at);
	}
	for (int i = 0; i < MODEL_TIMERS; i++)
		armed += loop_timer_is_armed(model[i].timer);
	ck_assert_int_gt(armed, MODEL_TIMERS / 3);
	loop_advance(loop, 100);
	ck_assert_int_eq(runs, armed);
	for (int i = 0; i < MODEL_TIMERS; i++)
		loop_timer_free(model[i].timer);
}

TEST(every_allocation_may_fail)
{
	loop_free(loop);
	ALLOC_SWEEP (k) {
		struct loop_timer *t = NULL;
		struct loop_fd *f = NULL;
		struct loop_signal *s = NULL;

		loop = loop_new_virtual();
		if (loop) {
			t = loop_timer_new(loop, note_arg, NULL);
			f = loop_fd_new(loop, &(struct loop_watch){ .fd = 0, .fn = never }, NULL);
			s = loop_signal_new(loop, SIGHUP, on_signal, NULL, NULL);
		}
		alloc_sweep_pause();
		ck_assert(alloc_sweep_has_failed() == (!loop || !t || !f || !s));
		if (loop) {
			loop_timer_free(t);
			loop_fd_free(f);
			loop_signal_free(s);
		}
		loop_free(loop);
	}
	loop = loop_new_virtual();
}

static unsigned ready;

static void note_ready(void *arg, unsigned what)
{
	ready |= what;
}

static unsigned ready_for(void)
{
	ready = 0;
	loop_turn(loop);
	return ready;
}

TEST(a_watch_is_called_for_what_is_ready)
{
	struct loop_fd *f;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	f = loop_fd_new(loop,
			&(struct loop_watch){
				.fd = ends[0], .what = LOOP_READ | LOOP_WRITE, .fn = note_ready },
			NULL);
	ck_assert_uint_eq(ready_for(), LOOP_WRITE);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ck_assert_uint_eq(ready_for(), LOOP_READ | LOOP_WRITE);
	ck_assert_int_eq(loop_fd_set(f, LOOP_READ), 0);
	ck_assert_uint_eq(ready_for(), LOOP_READ);
	ck_assert_int_eq(loop_fd_set(f, 0), 0);
	ck_assert_uint_eq(ready_for(), 0);
	close(ends[1]);
	ck_assert_int_eq(loop_fd_set(f, LOOP_WRITE), 0);
	ck_assert_uint_eq(ready_for(), LOOP_WRITE); /* hung up */
	loop_fd_free(f);
	close(ends[0]);
}

TEST(wait_without_work_moves_the_clock_by_its_bound)
{
	struct loop_timer *a = loop_timer_new(loop, note_arg, (void *)(uintptr_t) "a");
	nsec_t start = loop_now(loop);

	ck_assert_int_eq(loop_wait(loop, 0), 0);
	ck_assert_int_eq(loop_now(loop), start);
	ck_assert_int_eq(loop_wait(loop, 7), 0);
	ck_assert_int_eq(loop_now(loop), start + 7);
	loop_timer_arm(a, 100);
	ck_assert_int_eq(loop_wait(loop, -1), 0);
	ck_assert_int_eq(loop_now(loop), start + 107);
	ck_assert_str_eq(trace, "a");
	loop_timer_free(a);
}

/* The clock is at the time of the stop, and the next call continues. */
TEST(stop_ends_an_advance_where_it_comes)
{
	struct loop_timer *a = loop_timer_new(loop, stop_it, NULL),
			  *b = loop_timer_new(loop, note_arg, (void *)(uintptr_t) "b");
	nsec_t start = loop_now(loop);

	loop_timer_arm(a, 10);
	loop_timer_arm(b, 20);
	ck_assert(loop_advance(loop, 100));
	ck_assert_int_eq(loop_now(loop), start + 10);
	ck_assert_str_eq(trace, "");
	ck_assert(loop_advance(loop, 100));
	ck_assert_int_eq(loop_now(loop), start + 110);
	ck_assert_str_eq(trace, "b");
	loop_timer_free(a);
	loop_timer_free(b);
}

TEST(times_below_now_and_beyond_all_are_taken)
{
	struct loop_timer *a = loop_timer_new(loop, note_arg, (void *)(uintptr_t) "a");
	nsec_t start = loop_now(loop);

	loop_timer_arm(a, -5);
	ck_assert_int_eq(loop_next_at(loop), start);
	loop_timer_arm_at(a, start - 5);
	ck_assert_int_eq(loop_next_at(loop), start - 5);
	loop_turn(loop);
	ck_assert_str_eq(trace, "a");
	ck_assert_int_eq(loop_now(loop), start);
	loop_timer_arm(a, INT64_MAX);
	ck_assert_int_eq(loop_next_at(loop), INT64_MAX);
	loop_timer_free(a);
}

SUITE_WITH("loop/virtual", set_up, clean_up)
