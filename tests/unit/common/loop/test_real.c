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
static struct loop_job job;
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

TEST(a_timer_comes_no_earlier_than_it_is_due)
{
	struct loop_timer *t = loop_timer_new(loop, stop_it, NULL);
	nsec_t due = loop_now(loop) + 3 * NSEC_PER_MSEC;

	loop_timer_arm_at(t, due);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_ge(clock_mono(), due);
	loop_timer_free(t);
}

static char trace[8];
static void note_arg(void *arg)
{
	strncat(trace, arg, sizeof(trace) - strlen(trace) - 1);
}

TEST(timers_run_by_time_and_not_in_the_order_of_arming)
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

TEST(wait_returns_after_its_bound_when_nothing_happens)
{
	nsec_t start = clock_mono();

	ck_assert_int_eq(loop_wait(loop, 2 * NSEC_PER_MSEC), 0);
	ck_assert_int_ge(clock_mono(), start + 2 * NSEC_PER_MSEC);
	ck_assert_int_eq(loop_wait(loop, 0), 0);
	ck_assert_int_eq(calls, 0);
}

TEST(a_post_does_not_wait_for_the_kernel)
{
	loop_job_post(loop, &job, stop_it, NULL);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
}

TEST(readiness_is_level_triggered_and_follows_the_set)
{
	struct loop_fd *f = loop_fd_new(
		loop, &(struct loop_watch){ .fd = ends[0], .what = LOOP_READ, .fn = count_fd },
		NULL);

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

static struct loop_fd *both[2];

static void free_both(void *arg, unsigned what)
{
	calls++;
	for (int i = 0; i < 2; i++) {
		loop_fd_free(both[i]);
		both[i] = NULL;
	}
}

TEST(a_callback_may_free_every_watch_that_is_ready_too)
{
	for (int i = 0; i < 2; i++)
		both[i] = loop_fd_new(loop,
				      &(struct loop_watch){ .fd = ends[i],
							    .what = LOOP_READ | LOOP_WRITE,
							    .fn = free_both },
				      NULL);
	ck_assert_int_eq(write(ends[0], "x", 1), 1);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	loop_turn(loop);
	loop_turn(loop);
	ck_assert_int_eq(calls, 1);
}

TEST(a_closed_descriptor_cannot_be_watched)
{
	struct err e = { 0 };
	int fd = dup(ends[0]);

	close(fd);
	ck_assert_ptr_null(loop_fd_new(
		loop, &(struct loop_watch){ .fd = fd, .what = LOOP_READ, .fn = count_fd }, &e));
	ck_assert_int_eq(e.code, ERR_SYS);
}

static void on_signal(void *arg, int signo)
{
	ck_assert_int_eq(signo, SIGUSR1);
	calls++;
}

TEST(a_signal_is_a_callback_until_its_watch_is_freed)
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

static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

TEST(the_descriptor_to_poll_reports_fds_timers_and_posts)
{
	struct loop_fd *f = loop_fd_new(
		loop, &(struct loop_watch){ .fd = ends[0], .what = LOOP_READ, .fn = count_fd },
		NULL);
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
	loop_job_post(loop, &job, count, NULL);
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

/* A watch of reading and writing, and the reasons of its calls. */
static unsigned ready;

static void note_ready(void *arg, unsigned what)
{
	ready |= what;
}

static unsigned ready_for(struct loop_fd *f)
{
	ready = 0;
	loop_turn(loop);
	return ready;
}

TEST(a_watch_is_called_for_what_is_ready)
{
	struct loop_fd *f = loop_fd_new(loop,
					&(struct loop_watch){ .fd = ends[0],
							      .what = LOOP_READ | LOOP_WRITE,
							      .fn = note_ready },
					NULL);

	ck_assert_uint_eq(ready_for(f), LOOP_WRITE);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ck_assert_uint_eq(ready_for(f), LOOP_READ | LOOP_WRITE);
	ck_assert_int_eq(loop_fd_set(f, LOOP_READ), 0);
	ck_assert_uint_eq(ready_for(f), LOOP_READ);
	ck_assert_int_eq(loop_fd_set(f, LOOP_READ), 0);
	ck_assert_int_eq(loop_fd_set(f, LOOP_WRITE), 0);
	ck_assert_uint_eq(ready_for(f), LOOP_WRITE);
	ck_assert_int_eq(loop_fd_set(f, 0), 0);
	close(ends[1]);
	ck_assert_uint_eq(ready_for(f), 0);
	ck_assert_int_eq(loop_fd_set(f, LOOP_READ | LOOP_WRITE), 0);
	ck_assert_uint_eq(ready_for(f), LOOP_READ | LOOP_WRITE); /* hung up */
	loop_fd_free(f);
	ends[1] = dup(ends[0]);
}

/* With a descriptor to poll an fd may have one watch only. The first one stays as it is. */
TEST(a_second_watch_of_an_fd_is_refused_where_it_cannot_be)
{
	struct loop_fd *f = loop_fd_new(loop,
					&(struct loop_watch){
						.fd = ends[0], .what = LOOP_READ, .fn = count_fd },
					NULL),
		       *asleep = loop_fd_new(
			       loop, &(struct loop_watch){ .fd = ends[0], .fn = note_ready }, NULL);
	struct err e = { 0 };

	ck_assert_int_ge(loop_pollfd(loop, NULL), 0);
	ck_assert_ptr_null(loop_fd_new(
		loop, &(struct loop_watch){ .fd = ends[0], .what = LOOP_READ, .fn = note_ready },
		&e));
	ck_assert_int_eq(e.code, ERR_SYS);
	ck_assert_int_eq(loop_fd_set(asleep, LOOP_READ), -ERR_SYS);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ready = 0;
	loop_turn(loop);
	ck_assert_int_eq(calls, 1);
	ck_assert_uint_eq(ready, 0);
	loop_fd_free(asleep);
	loop_turn(loop);
	ck_assert_int_eq(calls, 2);
	loop_fd_free(f);
	f = loop_fd_new(loop,
			&(struct loop_watch){ .fd = ends[0], .what = LOOP_READ, .fn = count_fd },
			NULL);
	ck_assert_ptr_nonnull(f);
	loop_fd_free(f);
}

TEST(two_watches_of_an_fd_leave_nothing_to_poll)
{
	struct loop_fd *f[2];
	struct err e = { 0 };

	for (int i = 0; i < 2; i++)
		f[i] = loop_fd_new(
			loop,
			&(struct loop_watch){ .fd = ends[0], .what = LOOP_READ, .fn = count_fd },
			NULL);
	ck_assert_int_eq(loop_pollfd(loop, &e), -1);
	ck_assert_int_eq(e.code, ERR_SYS);
	loop_fd_free(f[1]);
	ck_assert_int_ge(loop_pollfd(loop, &e), 0);
	loop_fd_free(f[0]);
	loop_fd_free(NULL);
}

/* The kernel wakes it for a timer that is gone by then. */
TEST(wait_continues_when_nothing_was_called_back)
{
	struct loop_timer *t = loop_timer_new(loop, count, NULL);
	nsec_t start;

	ck_assert_int_ge(loop_pollfd(loop, NULL), 0);
	loop_timer_arm(t, NSEC_PER_MSEC);
	loop_timer_cancel(t);
	start = clock_mono();
	ck_assert_int_eq(loop_wait(loop, 20 * NSEC_PER_MSEC), 0);
	ck_assert_int_ge(clock_mono(), start + 20 * NSEC_PER_MSEC);
	ck_assert_int_eq(calls, 0);
	loop_timer_free(t);
	loop_timer_free(NULL);
}

TEST(stop_holds_for_the_next_run_and_no_longer)
{
	struct loop_timer *t = loop_timer_new(loop, stop_it, NULL);

	loop_stop(loop);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 0);
	loop_timer_arm(t, NSEC_PER_MSEC);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	loop_stop(loop);
	ck_assert_int_eq(loop_wait(loop, -1), 0);
	loop_timer_arm(t, NSEC_PER_MSEC);
	ck_assert_int_eq(loop_wait(loop, -1), 0);
	ck_assert_int_eq(calls, 2);
	loop_timer_free(t);
}

TEST(a_timer_of_the_past_is_due_at_once)
{
	static const nsec_t past[] = { 0, -1, INT64_MIN };
	struct loop_timer *t = loop_timer_new(loop, count, NULL);

	for (int i = 0; i < 3; i++) {
		loop_timer_arm(t, past[i]);
		loop_turn(loop);
		ck_assert_int_eq(calls, i + 1);
	}
	loop_timer_arm_at(t, 1);
	ck_assert_int_eq(loop_wait(loop, PATIENCE), 0);
	ck_assert_int_eq(calls, 4);
	loop_timer_arm(t, INT64_MAX);
	ck_assert_int_eq(loop_next_at(loop), INT64_MAX);
	loop_turn(loop);
	ck_assert_int_eq(calls, 4);
	loop_timer_free(t);
	ck_assert_int_eq(loop_next_at(loop), -1);
	ck_assert(!loop_is_virtual(loop));
}

static void at_signal(void *arg, int signo)
{
	++*(int *)arg;
}

TEST(a_signal_that_cannot_be_watched_is_refused)
{
	struct err e = { 0 };

	ck_assert_ptr_null(loop_signal_new(loop, SIGKILL, at_signal, NULL, &e));
	ck_assert_int_eq(e.code, ERR_SYS);
	ck_assert_ptr_nonnull(strstr(e.text, "signal 9"));
}

TEST(each_watch_of_a_signal_is_called)
{
	int n[2] = { 0 };
	struct loop_signal *s[] = { loop_signal_new(loop, SIGUSR1, at_signal, &n[0], NULL),
				    loop_signal_new(loop, SIGUSR1, at_signal, &n[1], NULL),
				    loop_signal_new(loop, SIGUSR2, at_signal, &n[0], NULL) };

	raise(SIGUSR1);
	while (!n[0] || !n[1])
		ck_assert_int_eq(loop_wait(loop, PATIENCE), 0);
	loop_signal_free(s[0]);
	raise(SIGUSR1);
	while (n[1] < 2)
		ck_assert_int_eq(loop_wait(loop, PATIENCE), 0);
	ck_assert_int_eq(n[0], 1);
	loop_signal_free(s[1]);
	loop_signal_free(s[2]);
	loop_signal_free(NULL);
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST(a_loop_closes_all_that_it_opened)
{
	int before = open_descriptors(), in = dup(STDIN_FILENO);
	struct loop *other = loop_new();
	struct loop_job grave = { 0 };

	close(STDIN_FILENO); /* so that the set to poll has this number */
	ck_assert_int_eq(loop_pollfd(other, NULL), STDIN_FILENO);
	loop_job_post(other, &job, count, NULL);
	loop_reap(other, &grave, count, NULL);
	loop_free(other);
	ck_assert_int_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
	ck_assert_int_eq(calls, 1); /* reaped; the post is dropped */
	dup2(in, STDIN_FILENO);
	close(in);
	ck_assert_int_eq(open_descriptors(), before);
	loop_free(NULL);
}

SUITE_WITH("loop/real", set_up, clean_up)
