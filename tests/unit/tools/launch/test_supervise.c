/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and other children of a supervising process end as they do without it. */
#include "common/base/clock.h"
#include "tests/suite.h"
#include "tools/launch/supervise.h"

#include <sys/wait.h>
#include <unistd.h>

static int ignores_children(void *arg)
{
	struct sigaction now;

	(void)arg;
	sigaction(SIGCHLD, NULL, &now);
	return now.sa_handler == SIG_IGN ? 7 : 8;
}

TEST(the_end_is_seen_where_the_caller_ignores_children)
{
	const struct sigaction none = { .sa_handler = SIG_IGN };
	struct supervised s = { 0 };
	int status;

	sigaction(SIGCHLD, &none, NULL);
	supervise_begin(&s);
	ck_assert_int_eq(supervise_start(&s, ignores_children, NULL), 0);
	status = supervise_wait(&s);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}

static pid_t start(int exit_status)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	while (exit_status < 0)
		pause();
	_exit(exit_status);
}

TEST(a_child_that_ends_has_its_status)
{
	int status = supervise_end_child(start(3), 1000 * NSEC_PER_SEC);

	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 3);
}

TEST(a_child_that_does_not_end_is_killed)
{
	pid_t pid = start(-1);

	ck_assert_int_eq(supervise_end_child(pid, NSEC_PER_MSEC), -1);
	ck_assert_int_eq(kill(pid, 0), -1);
}

TEST(a_process_that_is_no_child_has_no_status)
{
	pid_t pid = start(0);

	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(supervise_end_child(pid, NSEC_PER_MSEC), -1);
}

SUITE("tools/launch: supervise")
