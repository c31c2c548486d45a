/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a daemon in the background so that the exit status of the command shows its success. The
 * parent ends only when the child serves, or has failed.
 */
#include "common/daemon/daemon_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_FILE_MAX_BYTES (8 * 1024 * 1024) /* a larger file is renamed when it is opened */

/* Waits until the child serves or ends. Returns its exit status, or one for the kind of its end. */
static int wait_ready(int fd, pid_t child)
{
	unsigned char status;
	int how = 0;
	ssize_t n;

	do {
		n = read(fd, &status, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 1)
		return status;
	while (waitpid(child, &how, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(how) && WEXITSTATUS(how) ? WEXITSTATUS(how) : DAEMON_FAILED;
}

static void close_between(int first, int last)
{
	struct rlimit l = { 0 };

#ifdef SYS_close_range
	if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
		return;
#endif
	getrlimit(RLIMIT_NOFILE, &l);
	for (; first <= last && (rlim_t)first < l.rlim_cur; first++)
		close(first);
}

static int lowest_from(int first, int own, const int *keep, size_t n)
{
	int lowest = own >= first ? own : INT_MAX;

	for (size_t i = 0; i < n; i++)
		if (keep[i] >= first && keep[i] < lowest)
			lowest = keep[i];
	return lowest;
}

/* Closes inherited descriptors: another process may wait for the end of a pipe, or for a lock. */
static void close_all_but(int own, const int *keep, size_t n)
{
	int first = STDERR_FILENO + 1, next;

	while ((next = lowest_from(first, own, keep, n)) != INT_MAX) {
		close_between(first, next - 1);
		first = next + 1;
	}
	close_between(first, INT_MAX);
}

int background_fork(int *ready, const int *keep, size_t n, int *status, struct err *e)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(e, "pipe");
	fflush(NULL);
	child = fork();
	if (child < 0) {
		err_sys(e, "fork");
		close(ends[0]);
		close(ends[1]);
		return -ERR_SYS;
	}
	close(ends[child ? 1 : 0]);
	if (child) {
		*status = wait_ready(ends[0], child);
		close(ends[0]);
		return 1;
	}
	setsid();
	close_all_but(ends[1], keep, n);
	*ready = ends[1];
	return 0;
}

bool background_report(int *ready, int status)
{
	unsigned char word = (unsigned char)status;
	ssize_t n;

	if (*ready < 0)
		return true;
	do {
		n = write(*ready, &word, 1);
	} while (n < 0 && errno == EINTR);
	close(*ready);
	*ready = -1;
	return n == 1;
}

static void set_aside(const char *path)
{
	char old[FILE_PATH_BYTES];
	struct stat st;

	if (lstat(path, &st) || st.st_size < LOG_FILE_MAX_BYTES)
		return;
	if (snprintf(old, sizeof(old), "%s.1", path) < (int)sizeof(old))
		rename(path, old);
}

int background_log(const char *path, struct err *e)
{
	int log, rc = 0;

	set_aside(path);
	log = open(path,
		   O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		   0600);
	if (log < 0)
		return err_sys(e, "%s", path);
	if (dup2(log, 2) < 0)
		rc = err_sys(e, "dup2");
	close(log);
	return rc;
}

void background_find_log(const char *dir, char *out)
{
	size_t n = strlen(dir);
	ssize_t got = readlink("/proc/self/fd/2", out, FILE_PATH_BYTES - 1);
	struct stat st;

	out[got > 0 ? got : 0] = '\0';
	if (!n || strncmp(out, dir, n) || out[n] != '/' || strchr(out + n + 1, '/') ||
	    lstat(out, &st) || !S_ISREG(st.st_mode))
		out[0] = '\0';
}

int background_detach(const char *log_path, struct err *e)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), rc = 0;

	if (null < 0)
		return err_sys(e, "/dev/null");
	for (int fd = 0; fd < 3; fd++)
		if (dup2(null, fd) < 0)
			rc = err_sys(e, "dup2");
	close(null);
	return rc ? rc : background_log(log_path, e);
}
