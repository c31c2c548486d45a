/* SPDX-License-Identifier: Apache-2.0 */
/* Manipulations of real processes reach the intended ones. */
#include "lm/hold/holds.h"
#include "tests/unit/lm/real.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child with a pid of our choice, when we may choose. */
static pid_t fork_as(pid_t wanted)
{
	struct clone_args a = { .exit_signal = SIGCHLD,
				.set_tid = (uintptr_t)&wanted,
				.set_tid_size = 1 };

	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
}

static atomic_int *hits;

static void on_hit(int sig)
{
	atomic_fetch_add(hits, 1);
}

TEST(a_recycled_pid_is_never_signalled)
{
	struct sigaction count = { .sa_handler = on_hit };
	unsigned recycled = 0;

	real_open();
	hits = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGUSR1, &count, NULL); /* inherited: a wrong signal is counted */
	for (int i = 0; i < 200; i++) {
		struct host_proc *held;
		pid_t first = fork(), second;

		if (first == 0)
			for (;;)
				pause();
		ck_assert_int_eq(host_proc_open(real.host, first, &held, NULL), 0);
		real_end(first, SIGKILL, NULL);
		second = fork_as(first);
		if (second == 0)
			for (;;)
				pause();
		if (second < 0) {
			ck_assert_int_eq(host_proc_signal(held, SIGUSR1, NULL), -ERR_NOTFOUND);
			host_proc_close(held);
			continue; /* choosing a pid needs a privilege, or another process was faster
				   */
		}
		ck_assert_int_eq(second, first);
		recycled++;
		ck_assert_int_eq(host_proc_signal(held, SIGUSR1, NULL), -ERR_NOTFOUND);
		ck_assert_int_eq(host_proc_signal(held, SIGKILL, NULL), -ERR_NOTFOUND);
		ck_assert_int_eq(kill(second, 0), 0);
		host_proc_close(held);
		real_end(second, SIGKILL, NULL);
	}
	ck_assert_int_eq(atomic_load(hits), 0);
	ck_assert(getuid() != 0 || recycled > 100 || errno == EPERM);
	real_close();
}

TEST(stop_and_continue_reach_a_real_process)
{
	struct holds *s;
	struct proc *p;
	int status;
	pid_t pid;

	real_open();
	ck_assert_int_eq(holds_open(&(struct holds_conf){ .loop = real.loop,
							  .host = real.host,
							  .procs = real.procs,
							  .epoch = 1 },
				    &s, NULL),
			 0);
	holds_link(s, true);
	pid = real_start_rank();
	WAIT_FOR(procs_find_pid(real.procs, pid));
	p = procs_find_pid(real.procs, pid);
	ck_assert_int_eq(holds_stop(s, p, 1, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	holds_tool_gone(s, 1);
	ck_assert_int_eq(waitpid(pid, &status, WCONTINUED), pid);
	ck_assert(WIFCONTINUED(status));
	real_end(pid, SIGKILL, NULL);
	WAIT_FOR(procs_alive(real.procs) == 0);
	holds_free(s);
	real_close();
}

SUITE("lm and processes that it acts on")
