/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a mainsm for a user without one. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/daemon/daemon.h"
#include "common/link/connstr.h"
#include "common/net/net.h"
#include "tools/launch/launch.h"
#include "tools/libomis/omis.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define ANSWER_MAX_MS "1500"
#define READY_MAX_NS (10 * NSEC_PER_SEC)
#define JOIN_POLL_MS 50
#define SAID_BYTES 4096 /* of the output: warnings and errors */
#define LINGER "120" /* seconds after which it ends without a job or a tool */

static bool answers(const char *conn)
{
	char name[] = "omig", o1[] = "--omis-mainsm", o2[] = "--omis-timeout", ms[] = ANSWER_MAX_MS;
	char string[LAUNCH_CONN_BYTES];
	char *words[] = { name, o1, string, o2, ms, NULL }, **argv = words;
	int argc = 5;

	str_copy(string, sizeof(string), conn);
	if (omis_init(&argc, &argv, NULL, NULL) != OMIS_OK)
		return false;
	omis_finalize();
	return true;
}

/* Removes the last line of `said` if it is a connection string. */
static bool take_string(char *said, struct launch *l)
{
	char *line = str_has_prefix(said, "omig1:") ? said : strstr(said, "\nomig1:");

	if (!line || !strchr(line + 1, '\n'))
		return false;
	str_copy(l->conn, sizeof(l->conn), line + (*line == '\n'));
	l->conn[strcspn(l->conn, "\r\n")] = '\0';
	*line = '\0';
	return true;
}

/*
 * Reports the output before the string. Without a string, the last line is the reason of the
 * failure.
 */
static int report_failure(char *said, struct err *e)
{
	char *line;

	while (*said && said[strlen(said) - 1] == '\n')
		said[strlen(said) - 1] = '\0';
	line = strrchr(said, '\n');
	line = line ? line + 1 : said;
	return err_set(e, ERR_CLOSED, "%s", *line ? line : "mainsm did not start");
}

static int read_string(int fd, struct launch *l, struct err *e)
{
	nsec_t until = clock_mono() + READY_MAX_NS;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char said[LAUNCH_CONN_BYTES + SAID_BYTES] = "";
	size_t used = 0;
	ssize_t n = 1;

	while (n > 0 && !take_string(said, l)) {
		if (poll(&p, 1, 100) < 0 && errno != EINTR)
			return err_sys(e, "poll");
		if (clock_mono() > until)
			return err_set(e, ERR_TIMEOUT, "mainsm was not ready in time");
		if (!(p.revents & (POLLIN | POLLHUP)))
			continue;
		n = read(fd, said + used, sizeof(said) - 1 - used);
		used += n > 0 ? (size_t)n : 0;
		said[used] = '\0';
	}
	if (n <= 0)
		return report_failure(said, e);
	if (*said)
		fprintf(stderr, "%s\n", said);
	return 0;
}

static void set_actions(posix_spawn_file_actions_t *a, int out)
{
	posix_spawn_file_actions_init(a);
	posix_spawn_file_actions_addopen(a, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(a, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(a, out, STDERR_FILENO);
}

/* Starts mainsm in its own session, so that the terminal's signals reach the program only. */
static int spawn(const struct launch *l, int out, pid_t *pid, struct err *e)
{
	char path[FILE_PATH_BYTES], o1[] = "--linger", s[] = LINGER, o2[] = "--listen", addr[256];
	char *argv[] = { path, o1, s, l->listen ? o2 : NULL, addr, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int got;

	got = launch_find_daemon(path, l->bin, "mainsm", e);
	if (got < 0)
		return got;
	str_copy(addr, sizeof(addr), l->listen ? l->listen : "");
	set_actions(&actions, out);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	got = posix_spawn(pid, path, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	errno = got;
	return got ? err_sys(e, "%s", path) : 0;
}

static int start(struct launch *l, struct err *e)
{
	int fd[2], status, rc;
	pid_t pid = 0;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	rc = spawn(l, fd[1], &pid, e);
	close(fd[1]);
	if (!rc)
		rc = read_string(fd[0], l, e);
	close(fd[0]);
	if (rc)
		l->conn[0] = '\0';
	if (pid <= 0)
		return rc;
	/*
	 * A ready mainsm continues in the background, and its first process ends. That process is
	 * reaped here: the program that replaces this one must not find an unknown child in wait().
	 */
	if (rc)
		kill(pid, SIGKILL); /* mainsm may be stopped; its children detect the end */
	if (waitpid(pid, &status, 0) == pid && rc && WIFEXITED(status) &&
	    WEXITSTATUS(status) == DAEMON_RUNNING)
		rc = -ERR_EXISTS;
	return rc;
}

/* A string with names alone, as from `advertise`, has no known address. */
static bool is_at(const struct connstr *c, const char *addr)
{
	bool is_all = str_eq(addr, "0.0.0.0") || str_eq(addr, "::"), has_numeric = false,
	     has_name = false;

	for (unsigned i = 0; i < c->nhost; i++) {
		if (str_eq(c->host[i], addr))
			return true;
		if (net_is_numeric(c->host[i]))
			has_numeric = true;
		else
			has_name = true;
	}
	return !has_numeric || (is_all && has_name);
}

/* A running mainsm is used as it is; a warning reports that it listens elsewhere than requested. */
static void compare_listen(struct launch *l)
{
	struct connstr c = { .nhost = 0 };
	char addr[NET_ADDR_BYTES];
	struct err e = { 0 };

	if (!l->listen || l->warning[0] || connstr_parse(l->conn, &c, NULL))
		return;
	if (net_own_address(l->listen, addr, &e))
		snprintf(l->warning, sizeof(l->warning), "--%s", e.text);
	else if (!is_at(&c, addr))
		snprintf(l->warning, sizeof(l->warning),
			 "--listen %s has no effect: your mainsm runs at %s; to change that: omig "
			 "stop, then again",
			 l->listen, c.host[0]);
	str_wipe(&c, sizeof(c));
}

/* Another process starts the same mainsm, or it is about to end: waits until it answers. False: it
 * has ended, or time is over. */
static bool joins(struct launch *l, nsec_t until)
{
	bool is_given;

	for (; launch_mainsm_runs() && clock_mono() < until; poll(NULL, 0, JOIN_POLL_MS))
		if (!launch_find_string(l, &is_given, NULL) && !launch_probe(l->conn, true, NULL) &&
		    answers(l->conn))
			return true;
	l->conn[0] = '\0';
	return false;
}

/* When several commands start a mainsm together, all use the first one. The owner of the lock may
 * not have written its process id yet, or has just ended: both are retried. */
static int start_or_join(struct launch *l, struct err *e)
{
	nsec_t until = clock_mono() + READY_MAX_NS;
	int rc;

	while ((rc = start(l, e)) == -ERR_EXISTS && !launch_stopped_mainsm() &&
	       clock_mono() < until) {
		if (joins(l, until)) {
			compare_listen(l);
			return 0;
		}
		poll(NULL, 0, JOIN_POLL_MS);
	}
	return rc;
}

int launch_need_mainsm(struct launch *l, struct err *e)
{
	bool is_given, is_there;
	int rc = launch_find_string(l, &is_given, e);
	long stopped;

	/* A state directory that is not ours alone may hold an authority, which a second mainsm
	 * would not have. */
	if (is_given || rc == -ERR_DENIED)
		return rc;
	is_there = !rc;
	stopped = is_there ? launch_stopped_mainsm() : 0;
	if (stopped) {
		snprintf(l->warning, sizeof(l->warning),
			 "mainsm, pid %ld, is stopped: nothing is shown until it continues (kill "
			 "-CONT %ld)",
			 stopped, stopped);
		l->is_stopped = true;
		return 0;
	}
	if (is_there && answers(l->conn)) {
		compare_listen(l);
		return 0;
	}
	if (!is_there || launch_probe(l->conn, true, NULL))
		return start_or_join(l, e);
	rc = start(l, e); /* another program may listen there */
	return rc ? err_add(e, "your mainsm does not answer") : rc;
}
