/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/graphviz.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/term/say.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define NAMES ".dot or .gv, and where graphviz is .svg, .pdf, .png, .ps, .eps, .gif, .jpg or .json"

/* Extensions of file names, and the option of dot for each; NULL: the graph as text. */
static const struct {
	const char *end, *format;
} formats[] = {
	{ "dot", NULL },    { "gv", NULL },	 { "svg", "-Tsvg" },   { "pdf", "-Tpdf" },
	{ "png", "-Tpng" }, { "ps", "-Tps" },	 { "eps", "-Teps" },   { "gif", "-Tgif" },
	{ "jpg", "-Tjpg" }, { "jpeg", "-Tjpg" }, { "json", "-Tjson" },
};

/* A name without extension means text. Returns false for an unknown format. */
static bool find_format(const char *path, const char **out)
{
	const char *end = path ? strrchr(str_base_name(path), '.') : NULL;

	*out = NULL;
	for (size_t i = 0; end && i < ARRAY_LEN(formats); i++)
		if (str_eq(end + 1, formats[i].end)) {
			*out = formats[i].format;
			return true;
		}
	return !end;
}

int graphviz_check(const char *path)
{
	const char *format;

	return find_format(path, &format)
		       ? CMD_OK
		       : cmd_fail(CMD_USAGE, "%s: a drawing is a file with " NAMES, path);
}

static int write_plain(const char *path, const struct buf *graph)
{
	FILE *to = path ? fopen(path, "we") : stdout;
	bool is_written;

	if (!to)
		return cmd_fail(CMD_FAILURE, "%s: %s", path, strerror(errno));
	is_written = fwrite(buf_str(graph), 1, graph->n, to) == graph->n;
	if (path && fclose(to))
		is_written = false;
	return is_written ? CMD_OK : cmd_fail(CMD_FAILURE, "the output could not be written");
}

/* The graph as a file in memory, which dot reads from its standard input. */
static int open_graph(const struct buf *graph)
{
	int fd = memfd_create("graph", MFD_CLOEXEC);
	size_t at = 0;
	ssize_t n;

	while (fd >= 0 && at < graph->n) {
		n = write(fd, graph->p + at, graph->n - at);
		if (n <= 0) {
			close(fd);
			return -1;
		}
		at += (size_t)n;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static int run_dot(const char *format, const char *path, int graph)
{
	char tool[] = "dot", to[] = "-o", kind[8];
	char *name = str_dup(path);
	char *argv[] = { tool, kind, to, name, NULL };
	posix_spawn_file_actions_t actions;
	int status = -1, rc;
	pid_t pid;

	str_copy(kind, sizeof(kind), format);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, graph, STDIN_FILENO);
	rc = name ? posix_spawnp(&pid, tool, &actions, NULL, argv, environ) : ENOMEM;
	posix_spawn_file_actions_destroy(&actions);
	free(name);
	if (rc == ENOENT)
		return cmd_fail(CMD_FAILURE,
				"graphviz is not installed; -o graph.dot writes the graph as text");
	if (rc)
		return cmd_fail(CMD_FAILURE, "dot cannot be run: %s", strerror(rc));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? CMD_OK : cmd_fail(CMD_FAILURE, "dot has failed");
}

int graphviz_write(const char *path, const struct buf *graph)
{
	const char *format;
	int fd, rc = graphviz_check(path);

	if (rc != CMD_OK)
		return rc;
	find_format(path, &format);
	if (!format)
		return write_plain(path, graph);
	fd = open_graph(graph);
	if (fd < 0)
		return cmd_fail(CMD_FAILURE, "the graph cannot be passed to dot: %s",
				strerror(errno));
	rc = run_dot(format, path, fd);
	close(fd);
	return rc;
}
