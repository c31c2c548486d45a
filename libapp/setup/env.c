/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of this library in the environment. */
#include "common/base/str.h"
#include "libapp/hot/app_state.h"
#include "libapp/setup/setup.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma weak gnu_get_libc_version

/*
 * Returns a setting. An attached program has the connection string in its gate, not in its
 * environment.
 */
const char *setup_env(const char *name)
{
	const char *v = app_state.gate && str_eq(name, "OMIG_MAINSM") ? app_state.gate->conn
								      : secure_getenv(name);

	return v && *v ? v : NULL;
}

void setup_say(const char *what, int code)
{
	char line[256];
	int n;

	if (!setup_env("OMIG_DEBUG"))
		return;
	n = snprintf(line, sizeof(line), "omig[%d]: %s%s%s\n", (int)getpid(), what,
		     code ? ": " : "", code ? strerror_r(code, (char[64]){ 0 }, 64) : "");
	if (n > 0 &&
	    write(STDERR_FILENO, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
		return;
}

/*
 * A program may close descriptor 2 and open another file there, whose contents a line would spoil.
 * So only the file that was there at the begin of the program is its stderr.
 */
static struct {
	dev_t dev, rdev;
	ino_t ino; /* 0: not noted, or closed */
} stderr_at_start;

void setup_note_stderr(void)
{
	struct stat st;

	if (fstat(STDERR_FILENO, &st) < 0)
		return;
	stderr_at_start.dev = st.st_dev;
	stderr_at_start.rdev = st.st_rdev;
	stderr_at_start.ino = st.st_ino;
}

static bool is_stderr(int fd)
{
	struct stat st;

	return stderr_at_start.ino && fstat(fd, &st) == 0 && st.st_dev == stderr_at_start.dev &&
	       st.st_rdev == stderr_at_start.rdev && st.st_ino == stderr_at_start.ino;
}

static bool takes_a_line(int fd)
{
	struct pollfd p = { fd, POLLOUT, 0 };

	return poll(&p, 1, 0) == 1 && p.revents == POLLOUT;
}

/* A failed write may raise SIGPIPE or SIGXFSZ: these must not reach the program. */
static void write_unsignalled(int fd, const char *line, size_t n)
{
	const struct timespec now = { 0 };
	sigset_t ours, before, pending;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	sigpending(&pending);
	if (sigismember(&pending, SIGPIPE) || sigismember(&pending, SIGXFSZ) ||
	    pthread_sigmask(SIG_BLOCK, &ours, &before) != 0)
		return;
	if (write(fd, line, n) < 0 && (errno == EPIPE || errno == EFBIG))
		sigtimedwait(&ours, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void setup_warn(const char *why)
{
	char line[512];
	int n = app_state.gate
			? 0
			: snprintf(line, sizeof(line), "omig: warning: not watched: %s\n", why);

	if (n > 0 && (size_t)n < sizeof(line) && is_stderr(STDERR_FILENO) &&
	    takes_a_line(STDERR_FILENO))
		write_unsignalled(STDERR_FILENO, line, (size_t)n);
}

/* With another C library than glibc the program starts, and is not watched. */
static bool is_glibc(void)
{
	return gnu_get_libc_version != NULL;
}

bool setup_is_disabled(void)
{
	const char *disable = setup_env("OMIG_DISABLE");

	return !is_glibc() || (disable && !str_eq(disable, "0"));
}

bool setup_is_named(void)
{
	return setup_env("OMIG_MAINSM") && !setup_is_disabled();
}
