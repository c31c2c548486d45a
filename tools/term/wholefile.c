/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/wholefile.h"

#include "common/base/str.h"
#include "tools/term/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define STEP_BYTES 16384 /* at once */

const char *wholefile_name(const char *path)
{
	return str_eq(path, "-") ? "stdin" : path;
}

int wholefile_fail(const char *path, const struct err *e)
{
	const char *name = wholefile_name(path);

	return e->line ? cmd_fail(CMD_USAGE, "%s:%u:%u: %s", name, e->line, e->col, e->text)
		       : cmd_fail(CMD_USAGE, "%s: %s", name, e->text);
}

/* An earlier user of the shared standard input may have made it non-blocking. */
static ssize_t read_some(int fd, void *p, size_t n)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	ssize_t got;

	while ((got = read(fd, p, n)) < 0 && (errno == EINTR || errno == EAGAIN))
		if (errno == EAGAIN && poll(&wait, 1, -1) < 0 && errno != EINTR)
			return -1;
	return got;
}

static int too_large(const char *name, size_t max, struct err *e)
{
	return err_set(e, ERR_LIMIT, "%s: larger than %zu bytes", name, max);
}

static int read_all(int fd, const char *name, size_t max, struct buf *out, struct err *e)
{
	char step[STEP_BYTES];
	size_t total = 0;
	ssize_t n;
	int rc = 0;

	while (!rc && (n = read_some(fd, step, sizeof(step))) != 0) {
		if (n < 0)
			return err_sys(e, "%s", name);
		total += (size_t)n;
		rc = total > max ? -ERR_LIMIT : buf_put(out, step, (size_t)n);
	}
	return rc == -ERR_LIMIT ? too_large(name, max, e) : rc ? err_nomem(e) : 0;
}

static int open_failed(const char *path, struct err *e)
{
	if (errno == ENOENT || errno == ENOTDIR)
		return err_set(e, ERR_NOTFOUND, "%s: not there", path);
	return err_sys(e, "%s", path);
}

int wholefile_read(const char *path, size_t max, struct buf *out, struct err *e)
{
	bool is_stdin = str_eq(path, "-");
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc;

	if (fd < 0)
		return open_failed(path, e);
	rc = read_all(fd, wholefile_name(path), max, out, e);
	if (!is_stdin)
		close(fd);
	return rc;
}
