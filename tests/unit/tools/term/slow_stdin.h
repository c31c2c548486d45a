/* SPDX-License-Identifier: Apache-2.0 */
/* A standard input whose second half arrives when its reader waits for it. */
#ifndef TESTS_UNIT_TOOLS_TERM_SLOW_STDIN_H
#define TESTS_UNIT_TOOLS_TERM_SLOW_STDIN_H

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOW_STDIN_TRIES 500

static inline bool slow_stdin_is_awaited(pid_t reader)
{
	char path[64], text[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)reader);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return strstr(text, ") S ");
}

static inline void slow_stdin_write(int fd, const char *first, const char *second)
{
	pid_t reader = getppid();
	ssize_t n = (ssize_t)strlen(first), more = (ssize_t)strlen(second);

	if (write(fd, first, (size_t)n) != n)
		_exit(1);
	for (int i = 0; i < SLOW_STDIN_TRIES && !slow_stdin_is_awaited(reader); i++)
		poll(NULL, 0, 10);
	_exit(write(fd, second, (size_t)more) == more ? 0 : 1);
}

/* Returns the result of read(). flags: of the reader's descriptor, such as O_NONBLOCK. */
static inline int with_slow_stdin(int flags, const char *first, const char *second,
				  int (*read)(void *arg), void *arg)
{
	int fd[2], saved = dup(STDIN_FILENO), rc, status = 0;
	pid_t child;

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(fcntl(fd[0], F_SETFL, flags), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(fd[0]);
		slow_stdin_write(fd[1], first, second);
	}
	close(fd[1]);
	dup2(fd[0], STDIN_FILENO);
	rc = read(arg);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fd[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	return rc;
}

#endif
