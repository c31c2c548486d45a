/* SPDX-License-Identifier: Apache-2.0 */
#include "common/loop/loop.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Longer than anything here takes; only a failure waits for it. */
#define PATIENCE (50 * NSEC_PER_SEC)

static struct loop *loop;
static int ends[2];
static int calls;

static void set_up(void)
{
	loop = loop_new();
	calls = 0;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
}

static void clean_up(void)
{
	close(ends[0]);
	close(ends[1]);
	loop_free(loop);
}

static void count(void *arg)
{
	calls++;
}

static void count_fd(void *arg, unsigned what)
{
	calls++;
}

static void stop_it(void *arg)
{
	calls++;
	loop_stop(loop);
}

START_TEST(a_timer_comes_no_earlier_than_it_is_due)
{
	struct loop_timer *t = loop_timer_new(loop, stop_it, NULL);
	nsec_t due = loop_now(loop) + 3 * NSEC_PER_MSEC;

	loop_timer_arm_at(t, due);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_ge(clock_mono(), due);
	loop_timer_free(t);
}
END_TEST

static char trace[8];
static void note_arg(void *arg)
{
	strncat(trace, arg, sizeof(trace) - strlen(trace) - 1);
}

START_TEST(timers_run_by_time_and_an_earlier_one_armed_later_is_not_late)
{
	struct loop_timer *a = loop_timer_new(loop, note_arg, (void *)(uintptr_t) "a");
	struct loop_timer *b = loop_timer_new(loop, note_arg, (void *)(uintptr_t) "b");
	struct loop_timer *far = loop_timer_new(loop, stop_it, NULL);

	loop_timer_arm(far, 3600 * NSEC_PER_SEC);
	loop_turn(loop);
	loop_timer_arm(b, 2 * NSEC_PER_MSEC);
	loop_timer_arm(a, NSEC_PER_MSEC);
	while (strlen(trace) < 2)
		ck_assert_int_eq(loop_wait(loop, PATIENCE), 0);
	ck_assert_str_eq(trace, "ab");
	loop_timer_free(a);
	loop_timer_free(b);
	loop_timer_free(far);
}
END_TEST

START_TEST(wait_returns_after_its_bound_when_nothing_happens)
{
	nsec_t start = clock_mono();

	ck_assert_int_eq(loop_wait(loop, 2 * NSEC_PER_MSEC), 0);
	ck_assert_int_ge(clock_mono(), start + 2 * NSEC_PER_MSEC);
	ck_assert_int_eq(loop_wait(loop, 0), 0);
	ck_assert_int_eq(calls, 0);
}
END_TEST

START_TEST(a_post_does_not_wait_for_the_kernel)
{
	ck_assert_int_eq(loop_post(loop, stop_it, NULL), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
}
END_TEST

START_TEST(readiness_is_level_triggered_and_follows_the_set)
{
	struct loop_fd *f = loop_fd_new(loop, ends[0], LOOP_READ, count_fd, NULL, NULL);

	ck_assert_ptr_nonnull(f);
	loop_turn(loop);
	ck_assert_int_eq(calls, 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	loop_turn(loop);
	loop_turn(loop);
	ck_assert_int_eq(calls, 2);
	ck_assert_int_eq(loop_fd_set(f, 0), 0);
	loop_turn(loop);
	ck_assert_int_eq(calls, 2);
	ck_assert_int_eq(loop_fd_set(f, LOOP_WRITE), 0);
	loop_turn(loop);
	ck_assert_int_eq(calls, 3);
	loop_fd_free(f);
}
END_TEST

static struct loop_fd *both[2];

static void free_both(void *arg, unsigned what)
{
	calls++;
	for (int i = 0; i < 2; i++) {
		loop_fd_free(both[i]);
		both[i] = NULL;
	}
}

START_TEST(a_callback_may_free_every_watch_that_is_ready_too)
{
	for (int i = 0; i < 2; i++)
		both[i] = loop_fd_new(loop, ends[i], LOOP_READ | LOOP_WRITE, free_both, NULL, NULL);
	ck_assert_int_eq(write(ends[0], "x", 1), 1);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	loop_turn(loop);
	loop_turn(loop);
	ck_assert_int_eq(calls, 1);
}
END_TEST

START_TEST(a_closed_descriptor_cannot_be_watched)
{
	struct err e = { 0 };
	int fd = dup(ends[0]);

	close(fd);
	ck_assert_ptr_null(loop_fd_new(loop, fd, LOOP_READ, count_fd, NULL, &e));
	ck_assert_int_eq(e.code, ERR_SYS);
}
END_TEST

static void on_signal(void *arg, int signo)
{
	ck_assert_int_eq(signo, SIGUSR1);
	calls++;
}

START_TEST(a_signal_is_a_callback_until_its_watch_is_freed)
{
	struct loop_signal *s = loop_signal_new(loop, SIGUSR1, on_signal, NULL, NULL);
	struct sigaction before;

	ck_assert_ptr_nonnull(s);
	raise(SIGUSR1);
	ck_assert_int_eq(loop_wait(loop, PATIENCE), 0);
	ck_assert_int_eq(calls, 1);
	loop_signal_free(s);
	ck_assert_int_eq(sigaction(SIGUSR1, NULL, &before), 0);
	ck_assert(before.sa_handler == SIG_DFL);
}
END_TEST

static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

START_TEST(the_descriptor_to_poll_tells_of_fds_timers_and_posts)
{
	struct loop_fd *f = loop_fd_new(loop, ends[0], LOOP_READ, count_fd, NULL, NULL);
	struct loop_timer *t = loop_timer_new(loop, count, NULL);
	int fd = loop_pollfd(loop, NULL);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fd, loop_pollfd(loop, NULL));
	ck_assert(!is_readable(fd));
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ck_assert(is_readable(fd));
	loop_turn(loop);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(read(ends[0], &c, 1), 1);
	ck_assert(!is_readable(fd));
	loop_timer_arm(t, NSEC_PER_MSEC);
	ck_assert_int_eq(poll(&p, 1, 50000), 1);
	loop_turn(loop);
	ck_assert_int_eq(calls, 2);
	ck_assert_int_eq(loop_post(loop, count, NULL), 0);
	ck_assert_int_eq(poll(&p, 1, 50000), 1);
	loop_turn(loop);
	ck_assert_int_eq(calls, 3);
	ck_assert_int_eq(loop_fd_set(f, 0), 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	loop_turn(loop);
	ck_assert(!is_readable(fd));
	loop_timer_free(t);
	loop_fd_free(f);
}
END_TEST

SUITE_WITH("loop/real", set_up, clean_up, a_timer_comes_no_earlier_than_it_is_due,
	   timers_run_by_time_and_an_earlier_one_armed_later_is_not_late,
	   wait_returns_after_its_bound_when_nothing_happens, a_post_does_not_wait_for_the_kernel,
	   readiness_is_level_triggered_and_follows_the_set,
	   a_callback_may_free_every_watch_that_is_ready_too, a_closed_descriptor_cannot_be_watched,
	   a_signal_is_a_callback_until_its_watch_is_freed,
	   the_descriptor_to_poll_tells_of_fds_timers_and_posts)
