/* SPDX-License-Identifier: Apache-2.0 */
/* A frozen process does not run, can be changed, and then continues as if nothing had happened. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tracer/enter_internal.h"
#include "tracer/freeze.h"
#include "tracer/thread/regs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)

#define THREADS 4
#define TRIES 100000

static struct seen {
	volatile long rounds[THREADS];
	volatile long waits, wrong, handled;
} * seen;
static const volatile int constant = 7; /* in a page without the right to write */
static int to_lm;
static pid_t child;
static struct loop *loop;
static struct line *line;
static struct tracees *tracees;

static void ignore_msg(void *arg, const struct tracer_msg *m)
{
}

static void ignore_end(void *arg, const char *why)
{
}

static void open_tracees(void)
{
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
	to_lm = fd[1];
	loop = loop_new();
	ck_assert_int_eq(line_open(&(struct line_conf){ loop, fd[0], ignore_msg, ignore_end, NULL },
				   &line, NULL),
			 0);
	ck_assert_int_eq(tracees_open(loop, line, &tracees, NULL), 0);
}

static void set_up(void)
{
	seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	open_tracees();
}

static void clean_up(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
	tracees_close(tracees);
	line_close(line);
	loop_free(loop);
}

static void *spin(void *arg)
{
	for (;;)
		++*(volatile long *)arg;
	return NULL;
}

/* Also starts threads all the time. */
static void *breed(void *arg)
{
	for (;;) {
		pthread_t t;

		if (pthread_create(&t, NULL, (void *(*)(void *))(uintptr_t)clock, NULL) == 0)
			pthread_join(t, NULL);
		++*(volatile long *)arg;
	}
	return NULL;
}

static void on_signal(int sig)
{
	seen->handled++;
}

/* The waits must neither end early nor report an interruption, but by the program's own signal. */
static void wait_in_kernel(void)
{
	struct timespec ms = { 0, 2 * NSEC_PER_MSEC }, before, after;
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	for (;;) {
		struct pollfd p = { .fd = fd[0], .events = POLLIN };

		clock_gettime(CLOCK_MONOTONIC, &before);
		seen->wrong += nanosleep(&ms, NULL) != 0;
		seen->wrong += poll(&p, 1, 2) != 0;
		seen->wrong += syscall(SYS_getpid) != getpid();
		clock_gettime(CLOCK_MONOTONIC, &after);
		seen->wrong += (after.tv_sec - before.tv_sec) * NSEC_PER_SEC + after.tv_nsec -
				       before.tv_nsec <
			       3 * NSEC_PER_MSEC;
		seen->waits++;
	}
}

static void start(void (*program)(void))
{
	sigset_t none;

	child = fork();
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	program();
	_exit(0);
}

static void with_threads(void)
{
	pthread_t t;

	for (int i = 1; i < THREADS; i++)
		pthread_create(&t, NULL, i == 1 ? breed : spin, (void *)&seen->rounds[i]);
	spin((void *)&seen->rounds[0]);
}

static void until_moving(volatile long *n)
{
	long before = *n;

	for (int i = 0; i < TRIES && *n == before; i++)
		usleep(1000);
	ck_assert_int_ne(*n, before);
}

/* A busy machine may need some tries. */
static struct freeze *freeze(void)
{
	struct who w = { child, child, who_start(child) };
	struct freeze *f = NULL;
	struct err e = { 0 };

	for (int i = 0; i < 1000; i++) {
		if (freeze_begin(tracees, &w, &f, &e) == 0)
			return f;
		ck_assert_msg(e.code == ERR_TIMEOUT, "%s", e.text);
		loop_wait(loop, NSEC_PER_MSEC);
	}
	ck_abort_msg("%s", e.text);
	return NULL;
}

TEST(all_its_threads_stop_and_continue)
{
	start(with_threads);
	for (int round = 0; round < 20; round++) {
		long before[THREADS];
		struct freeze *f;

		for (int i = 0; i < THREADS; i++)
			until_moving(&seen->rounds[i]);
		f = freeze();
		ck_assert_uint_ge(freeze_count(f), THREADS);
		memcpy(before, (void *)seen->rounds, sizeof(before));
		usleep(1000);
		ck_assert_int_eq(memcmp(before, (void *)seen->rounds, sizeof(before)), 0);
		freeze_end(f);
	}
	ck_assert_uint_le(tracees_count(tracees), 1);
}

static void show_constant(void)
{
	for (;;)
		seen->rounds[0] = constant + (seen->rounds[0] & ~0xffL) + 0x100;
}

TEST(constants_and_code_are_written_and_memory_elsewhere_fails)
{
	int value = 9, back = 0;
	struct err e = { 0 };
	struct freeze *f;

	start(show_constant);
	until_moving(&seen->rounds[0]);
	f = freeze();
	ck_assert_int_eq(freeze_write(f, (uintptr_t)&constant, &value, sizeof(value), &e), 0);
	ck_assert_int_eq(freeze_read(f, (uintptr_t)&constant, &back, sizeof(back), &e), 0);
	ck_assert_int_eq(back, 9);
	ck_assert_int_eq(freeze_read(f, 4096, &back, sizeof(back), &e), -ERR_NOTFOUND);
	ck_assert_int_lt(freeze_write(f, 4096, &value, sizeof(value), &e), 0);
	freeze_end(f);
	for (int i = 0; i < TRIES && (seen->rounds[0] & 0xff) != 9; i++)
		usleep(1000);
	ck_assert_int_eq(seen->rounds[0] & 0xff, 9);
}

static int64_t call(struct freeze *f, const struct call_ways *ways, int64_t number, uint64_t a)
{
	struct call_syscall c = { .number = number, .arg = { a } };
	struct err e = { 0 };
	int rc = freeze_syscalls(f, ways, &c, 1, &e);

	ck_assert_msg(!rc || rc == -ERR_AGAIN, "%s", e.text);
	return rc ? INT64_MIN : c.result;
}

TEST(system_calls_leave_its_waits_as_they_are)
{
	struct call_ways ways;
	struct err e = { 0 };
	int done = 0;

	start(wait_in_kernel);
	until_moving(&seen->waits);
	ck_assert_msg(call_find_ways(child, &ways, &e) == 0, "%s", e.text);
	for (int i = 0; i < 200; i++) {
		struct freeze *f = freeze();
		int64_t got = call(f, &ways, SYS_getpid, 0);

		if (got != INT64_MIN) {
			ck_assert_int_eq(got, child);
			ck_assert_int_eq(call(f, &ways, SYS_close, 12345), -EBADF);
			done++;
		}
		freeze_end(f);
		usleep((useconds_t)(i % 7) * 300);
	}
	ck_assert_int_gt(done, 100);
	until_moving(&seen->waits);
	ck_assert_int_eq(seen->wrong, 0);
}

/* As after exec of the process: whatever is at these places now is not executed. */
TEST(a_system_call_needs_its_code_where_it_was)
{
	struct call_syscall c = { .number = SYS_getpid };
	struct call_ways ways, moved;
	struct freeze *f;

	start(wait_in_kernel);
	until_moving(&seen->waits);
	ck_assert_int_eq(call_find_ways(child, &ways, NULL), 0);
	for (int i = 0; i < 2; i++) {
		moved = ways;
		*(i ? &moved.back : &moved.syscall) += 1;
		f = freeze();
		ck_assert_int_eq(freeze_syscalls(f, &moved, &c, 1, NULL), -ERR_AGAIN);
		ck_assert_int_eq(freeze_enqueue(f, &moved, &c, 1, NULL), -ERR_AGAIN);
		freeze_end(f);
		until_moving(&seen->waits);
	}
	ck_assert_int_eq(seen->wrong, 0);
	ck_assert_int_eq(kill(child, 0), 0);
}

static void until_pages(uint64_t at)
{
	for (int i = 0; i < TRIES && !enter_has_pages(child, at); i++)
		usleep(1000);
	ck_assert(enter_has_pages(child, at));
}

/* Calls that are repeated change no memory that is there by then. */
TEST(pages_of_a_gate_are_made_once)
{
	uint64_t asked, base = 0, again = 0;
	struct call_ways ways;
	struct freeze *f;
	int rc = -ERR_AGAIN;

	start(wait_in_kernel);
	until_moving(&seen->waits);
	ck_assert_int_eq(call_find_ways(child, &ways, NULL), 0);
	asked = enter_find_place(child, ways.syscall);
	ck_assert_uint_ne(asked, 0);
	for (int i = 0; rc == -ERR_AGAIN && i < 1000; i++) {
		f = freeze();
		rc = enter_make_pages(f, &ways, asked, &base, NULL);
		freeze_end(f);
	}
	ck_assert_int_eq(rc, 0);
	ck_assert(!base || base == asked);
	until_pages(asked);
	f = freeze();
	rc = enter_make_pages(f, &ways, asked, &again, NULL);
	freeze_end(f);
	ck_assert(rc == -ERR_AGAIN || !again);
	ck_assert(enter_has_pages(child, asked));
	until_moving(&seen->waits);
	ck_assert_int_eq(seen->wrong, 0);
}

/* Its registers, also those of vectors, are checked by itself all the time. */
static void compute(void)
{
	volatile double step = 1.5;
	double sum = 0, twice = 0;

	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	for (;;) {
		sum += step;
		twice += 2 * step;
		seen->wrong += twice != 2 * sum;
		seen->rounds[0]++;
		if (sum > 1e9)
			sum = twice = 0;
	}
}

TEST(enqueued_calls_are_executed_after_it_without_a_stop)
{
	int64_t page = sysconf(_SC_PAGESIZE);
	struct call_ways ways;
	uint64_t at = 0, base = 0;

	start(compute);
	until_moving(&seen->rounds[0]);
	ck_assert_int_eq(call_find_ways(child, &ways, NULL), 0);
	for (int i = 0; i < 50; i++) {
		struct call_syscall c[] = {
			{ .number = SYS_munmap, .arg = { at, (uint64_t)page } },
			{ .number = SYS_munmap, .arg = { at + GATE_CODE_BYTES, (uint64_t)page } },
			{ .number = SYS_kill, .arg = { (uint64_t)child, SIGUSR1 } },
		};
		struct freeze *f = freeze();
		long before = seen->handled;

		base = 0;
		if (!at) {
			at = enter_find_place(child, ways.syscall);
			ck_assert_int_eq(enter_make_pages(f, &ways, at, &base, NULL), 0);
			ck_assert_uint_eq(base, 0);
			freeze_end(f);
			until_pages(at);
			continue;
		}
		ck_assert_int_eq(freeze_enqueue(f, &ways, c, ARRAY_LEN(c), NULL), 0);
		ck_assert_int_eq(freeze_enqueue(f, &ways, c, ARRAY_LEN(c), NULL), -ERR_AGAIN);
		freeze_end(f);
		for (int k = 0; k < TRIES && seen->handled == before; k++)
			usleep(1000);
		ck_assert_int_eq(seen->handled, before + 1);
		ck_assert(!enter_has_pages(child, at));
		at = 0;
	}
	until_moving(&seen->rounds[0]);
	ck_assert_int_eq(seen->wrong, 0);
}

static void count_signals(void)
{
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	for (;;) {
		seen->rounds[0]++;
		syscall(SYS_getpid);
	}
}

TEST(signals_that_come_meanwhile_are_delivered_once)
{
	struct call_ways ways;

	start(count_signals);
	until_moving(&seen->rounds[0]);
	ck_assert_int_eq(call_find_ways(child, &ways, NULL), 0);
	for (int i = 0; i < 100; i++) {
		long before = seen->handled;
		struct freeze *f = freeze();

		kill(child, SIGUSR1);
		call(f, &ways, SYS_getpid, 0);
		ck_assert_int_eq(seen->handled, before);
		freeze_end(f);
		for (int k = 0; k < TRIES && seen->handled == before; k++) {
			loop_wait(loop, NSEC_PER_MSEC / 10);
		}
		ck_assert_int_eq(seen->handled, before + 1);
	}
}

TEST(a_stopped_process_remains_stopped)
{
	struct call_syscall c = { .number = SYS_getpid };
	struct call_ways ways;
	struct freeze *f;
	int status;

	start(count_signals);
	until_moving(&seen->rounds[0]);
	ck_assert_int_eq(call_find_ways(child, &ways, NULL), 0);
	kill(child, SIGSTOP);
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	f = freeze();
	ck_assert_int_eq(freeze_enqueue(f, &ways, &c, 1, NULL), -ERR_UNSUPPORTED);
	ck_assert_int_eq(call(f, &ways, SYS_getpid, 0), child);
	freeze_end(f);
	for (int i = 0; i < 20; i++) {
		long before = seen->rounds[0];

		loop_wait(loop, NSEC_PER_MSEC);
		ck_assert_int_eq(seen->rounds[0], before);
	}
	kill(child, SIGCONT);
	until_moving(&seen->rounds[0]);
}

/* The tracer is a separate process, killed at any point. */
static pid_t trace_apart(bool enqueues)
{
	pid_t tracer = fork();
	struct call_ways ways;

	if (tracer)
		return tracer;
	tracees_close(tracees);
	line_close(line);
	loop_free(loop); /* has the parent's signals */
	open_tracees();
	if (call_find_ways(child, &ways, NULL))
		_exit(1);
	for (;;) {
		struct who w = { child, child, who_start(child) };
		struct call_syscall c = { .number = SYS_getpid };
		struct freeze *f;

		if (!freeze_begin(tracees, &w, &f, NULL)) {
			if (!enqueues || freeze_enqueue(f, &ways, &c, 1, NULL))
				freeze_syscalls(f, &ways, &c, 1, NULL);
			freeze_end(f);
		}
		loop_wait(loop, 1);
	}
}

static void (*const program[])(void) = { wait_in_kernel, compute };

TEST_EACH(a_killed_tracer_leaves_it_whole, which, ARRAY_LEN(program))
{
	volatile long *moves = which ? &seen->rounds[0] : &seen->waits;
	unsigned dice = 1;
	int status;

	start(program[which]);
	until_moving(moves);
	for (int i = 0; i < 150; i++) {
		pid_t tracer = trace_apart(i % 2);

		dice = dice * 1103515245 + 12345;
		usleep(1500 + (dice >> 16) % 3000);
		kill(tracer, SIGKILL);
		ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		until_moving(moves);
	}
	ck_assert_int_eq(seen->wrong, 0);
	ck_assert_int_eq(kill(child, 0), 0);
}

TEST(a_process_that_ends_or_never_was_is_an_error)
{
	struct who w = { .pid = 1 << 22, .tid = 1 << 22, .start = 1 };
	struct err e = { 0 };
	struct freeze *f;

	ck_assert_int_eq(freeze_begin(tracees, &w, &f, &e), -ERR_NOTFOUND);
	start(with_threads);
	until_moving(&seen->rounds[0]);
	w = (struct who){ child, child, who_start(child) };
	kill(child, SIGKILL);
	ck_assert_int_lt(freeze_begin(tracees, &w, &f, &e), 0);
}

SUITE_WITH("freeze", set_up, clean_up)

#else

TEST(elsewhere_calls_are_refused)
{
	ck_assert_int_eq(call_find_ways(getpid(), NULL, NULL), -ERR_UNSUPPORTED);
}

SUITE("freeze")

#endif
