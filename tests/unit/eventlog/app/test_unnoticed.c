/* SPDX-License-Identifier: Apache-2.0 */
/* Transparency of the log for a program: it ends as without the log, and never waits for a lock. */
#include "common/base/array.h"
#include "eventlog/app/event.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

OMIG_EVENT(numbered, "numbered", OMIG_INFO, (int32, n), (float, f))

static char path[64];

static void set_up(void)
{
	snprintf(path, sizeof(path), "/tmp/omig-unnoticed-%ld.olog", (long)getpid());
}

static void clean_up(void)
{
	unlink(path);
}

static int status_of(pid_t child)
{
	int status = -1;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

#define HANGS_S 250 /* then the test is killed: below the bound that a sanitizer's build has */

static int open_pipe(void)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static int bytes_in(int fd)
{
	int n = 0;

	ioctl(fd, FIONREAD, &n);
	return n;
}

static void *flush(void *arg)
{
	omig_event_flush();
	return NULL;
}

/* The pipe is full and has no reader: a flush waits, and is cancelled there. */
TEST(a_cancelled_thread_leaves_no_lock_behind)
{
	int in = open_pipe();
	pthread_t t;
	char b[4096];

	alarm(HANGS_S);
	ck_assert_int_eq(omig_event_open(path, 0), 0);
	for (int i = 0; i < 5000; i++)
		omig_event(numbered, i, 1.0f);
	ck_assert_int_eq(pthread_create(&t, NULL, flush, NULL), 0);
	while (bytes_in(in) < 60000)
		usleep(1000);
	ck_assert_int_eq(pthread_cancel(t), 0);
	while (pthread_tryjoin_np(t, NULL))
		if (read(in, b, sizeof(b)) < 0)
			usleep(1000);
	while (read(in, b, sizeof(b)) > 0)
		;
	ck_assert_int_eq(omig_event_flush(), 0);
	ck_assert_int_eq(omig_event_close(), 0);
	close(in);
}

/* Stands still before its end. */
static pid_t writer(int pipe)
{
	pid_t child = fork();

	if (!child) {
		if (omig_event_open(path, OMIG_EVENT_APPEND))
			_exit(1);
		if (pipe >= 0)
			close(pipe);
		for (int i = 0; i < 5000; i++)
			omig_event(numbered, i, 1.0f);
		raise(SIGSTOP);
		exit(0);
	}
	ck_assert(waitpid(child, NULL, WUNTRACED) == child);
	return child;
}

static void defaults(void)
{
	const struct sigaction dfl = { .sa_handler = SIG_DFL };

	ck_assert(!sigaction(SIGXFSZ, &dfl, NULL) && !sigaction(SIGPIPE, &dfl, NULL));
}

TEST(a_log_that_may_not_grow_changes_no_exit_status)
{
	const struct rlimit few = { 4096, RLIM_INFINITY };
	struct rlimit before;
	pid_t child;

	defaults();
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
	child = writer(-1);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	kill(child, SIGCONT);
	ck_assert_int_eq(status_of(child), 0);
}

TEST(a_log_that_nothing_reads_changes_no_exit_status)
{
	int in = open_pipe();
	pid_t child;

	defaults();
	child = writer(in);
	close(in);
	kill(child, SIGCONT);
	ck_assert_int_eq(status_of(child), 0);
}

static pthread_t came_along;

static void *wait_for(void *unused)
{
	_exit(pthread_join(came_along, NULL));
	return unused;
}

static void *fork_and_end(void *status)
{
	pthread_t waiter;
	pid_t child;

	omig_event(numbered, 1, 1.0f);
	came_along = pthread_self();
	child = fork();
	if (!child) {
		if (pthread_create(&waiter, NULL, wait_for, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	*(int *)status = status_of(child);
	return NULL;
}

TEST(a_thread_that_came_by_fork_ends_in_peace)
{
	pthread_t t;
	int status = -1;

#ifdef __SANITIZE_THREAD__
	return;
#endif
	ck_assert_int_eq(omig_event_open(path, 0), 0);
	ck_assert_int_eq(pthread_create(&t, NULL, fork_and_end, &status), 0);
	pthread_join(t, NULL);
	ck_assert_int_eq(omig_event_close(), 0);
	ck_assert_int_eq(status, 0);
}

/* The helper does not keep a program running. */
TEST(a_program_ends_with_the_last_of_its_own_threads)
{
	pid_t child;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	return; /* sanitizers have their own threads, and count leaks after a fork */
#endif
	child = fork();
	if (!child) {
		alarm(HANGS_S);
		if (omig_event_open(path, 0))
			_exit(2);
		omig_event(numbered, 1, 1.0f);
		pthread_exit(NULL);
	}
	ck_assert_int_eq(status_of(child), 0);
}

SUITE_WITH("unnoticed", set_up, clean_up)
