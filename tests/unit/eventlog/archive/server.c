/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/archive/server.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRIPT "tests/testbed/postgres"

static char folder[128], url[256];
static pid_t guard;
static int until; /* the guard waits until no process has this open */

/* The first line that the script writes, without its end. False: none. */
static bool line_of(const char *word, char *line, size_t size)
{
	int ends[2];
	pid_t child;
	ssize_t n;

	if (pipe(ends))
		return false;
	child = fork();
	if (!child) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(SCRIPT, SCRIPT, word, NULL);
		_exit(1);
	}
	close(ends[1]);
	n = read(ends[0], line, size - 1);
	waitpid(child, NULL, 0);
	close(ends[0]);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return n > 0;
}

/* The server outlives a test program that is killed, but for this process. */
static void start_guard(void)
{
	int ends[2];
	char c;

	if (pipe(ends))
		return;
	guard = fork();
	if (guard) {
		close(ends[0]);
		until = ends[1];
		return;
	}
	close(ends[1]);
	while (read(ends[0], &c, 1) > 0)
		continue;
	execl(SCRIPT, SCRIPT, "stop", folder, NULL);
	_exit(1);
}

const char *server_url(const char *database)
{
	snprintf(url, sizeof(url), "postgresql:///%s?host=%s&user=omig", database, folder);
	return url;
}

const char *server_start(void)
{
	char why[128];

	if (line_of("why", why, sizeof(why))) {
		puts(why);
		return NULL;
	}
	if (!line_of("start", folder, sizeof(folder))) {
		puts("the PostgreSQL server does not start");
		return NULL;
	}
	start_guard();
	return server_url("postgres");
}

void server_stop(void)
{
	close(until);
	waitpid(guard, NULL, 0);
}
