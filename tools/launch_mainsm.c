/* SPDX-License-Identifier: Apache-2.0 */
/* A mainsm for those who have none. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/launch.h"
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
#define SAID_BYTES 4096 /* of warnings and errors */
#define LINGER "120" /* seconds that it stays without a job or a tool */

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

/* Takes the last line of said away when it is a connection string. */
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

/* What it says before the string is for people; without a string, its last line is what went wrong. */
static int tell_failure(char *said, struct err *e)
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
		return tell_failure(said, e);
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

/* In a session of its own, so that the terminal's signals are the program's alone. */
static int spawn(const struct launch *l, int out, pid_t *pid, struct err *e)
{
	char path[FILE_PATH_BYTES], o1[] = "--linger", s[] = LINGER, o2[] = "--listen", addr[256];
	char *argv[] = { path, o1, s, l->listen ? o2 : NULL, addr, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	rc = file_join(path, sizeof(path), l->bin, "mainsm", e);
	if (rc < 0)
		return rc;
	str_copy(addr, sizeof(addr), l->listen ? l->listen : "");
	set_actions(&actions, out);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	rc = posix_spawn(pid, path, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	errno = rc;
	return rc ? err_sys(e, "%s", path) : 0;
}

static int start(struct launch *l, struct err *e)
{
	int fd[2], status, rc;
	pid_t pid = 0;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	rc = spawn(l, fd[1], &pid, e);
	close(fd[1]);
	if (rc == 0)
		rc = read_string(fd[0], l, e);
	close(fd[0]);
	if (rc < 0)
		l->conn[0] = '\0';
	if (pid <= 0)
		return rc;
	/*
	 * When it is ready it goes to the background, and this process of it ends. In any case it must
	 * not be left to the program that we become, whose wait() would find a child that it never had.
	 */
	if (rc < 0)
		kill(pid, SIGKILL); /* it may be stopped; what it has started notices */
	waitpid(pid, &status, 0);
	return rc;
}

int launch_need_mainsm(struct launch *l, struct err *e)
{
	bool is_given = l->mainsm || (getenv("OMIG_MAINSM") && *getenv("OMIG_MAINSM"));
	int rc = launch_find_mainsm(l, e);

	if (rc == 0 && (is_given || answers(l->conn)))
		return 0;
	return start(l, e);
}
