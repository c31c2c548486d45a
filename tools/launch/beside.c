/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/launch/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELD (STDERR_FILENO + 1) /* the pidfd of the program: readable when that has ended */

/* Closes inherited descriptors: one may be the end of a pipe, or a lock. */
static bool let_go(int program)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		return false;
#ifdef SYS_close_range
	return (program == HELD || dup2(program, HELD) >= 0) &&
	       syscall(SYS_close_range, HELD + 1, INT_MAX, 0) == 0;
#else
	return false;
#endif
}

static void *wait_for_end(void *arg)
{
	const struct beside *b = arg;
	struct pollfd p = { .fd = HELD, .events = POLLIN };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	b->on_end();
	return NULL;
}

static void run(const struct beside *b, int program)
{
	struct beside own = *b;
	pthread_t thread;

	if (let_go(program) && !pthread_create(&thread, NULL, wait_for_end, &own))
		own.run(own.arg);
}

void beside_start(const struct beside *b)
{
	int program = (int)syscall(SYS_pidfd_open, getpid(), 0);
	pid_t between;

	if (program < 0)
		return;
	between = fork();
	if (between == 0) {
		if (fork() == 0)
			run(b, program);
		_exit(0);
	}
	while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR)
		;
	close(program);
}
