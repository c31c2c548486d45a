/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/outfile.h"

#include "tools/term/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_part(struct outfile *o, mode_t mode)
{
	if (snprintf(o->part, sizeof(o->part), "%s.part-%ld", o->path, (long)getpid()) >=
	    (int)sizeof(o->part)) {
		o->part[0] = '\0';
		return cmd_fail(CMD_USAGE, "the name of the output is too long");
	}
	o->fd = open(o->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (o->fd >= 0)
		return CMD_OK;
	o->part[0] = '\0';
	return cmd_fail(CMD_FAILURE, "%s: %s", o->path, strerror(errno));
}

/*
 * A file in the place of a pipe reaches no reader; one in the place of /dev/null hits the whole
 * machine.
 */
static int open_as_it_is(struct outfile *o)
{
	o->fd = open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return o->fd >= 0 ? CMD_OK : cmd_fail(CMD_FAILURE, "%s: %s", o->path, strerror(errno));
}

int outfile_open(struct outfile *o, const char *path)
{
	struct stat st;

	*o = (struct outfile){ .fd = 1, .path = path };
	if (!path)
		return CMD_OK;
	if (stat(path, &st))
		return open_part(o, 0666);
	return S_ISREG(st.st_mode) ? open_part(o, st.st_mode & 0777) : open_as_it_is(o);
}

int outfile_check(const char *path)
{
	struct outfile o = { 0 };
	struct stat st;
	int rc = CMD_OK;

	/* A pipe's reader would meet its end here. */
	if (path && (stat(path, &st) || S_ISREG(st.st_mode)))
		rc = outfile_open(&o, path);
	outfile_close(&o);
	return rc;
}

static int put_all(const struct outfile *o, const struct buf *b)
{
	size_t at = 0;

	if (b->failed)
		return cmd_fail(CMD_FAILURE, "out of memory");
	while (at < b->n) {
		ssize_t n = write(o->fd, b->p + at, b->n - at);

		if (n < 0 && errno != EINTR)
			return cmd_fail(CMD_FAILURE, "%s: %s",
					o->path ? o->path : "standard output", strerror(errno));
		at += n > 0 ? (size_t)n : 0;
	}
	return CMD_OK;
}

int outfile_put(struct outfile *o, struct buf *b, size_t least)
{
	int status;

	if (!b->failed && b->n < least)
		return CMD_OK;
	status = put_all(o, b);
	if (status == CMD_OK)
		buf_clear(b);
	return status;
}

int outfile_finish(struct outfile *o)
{
	if (!o->part[0])
		return CMD_OK;
	/* A full or remote disk may report its error as late as here. */
	if (fsync(o->fd) || rename(o->part, o->path))
		return cmd_fail(CMD_FAILURE, "%s: %s", o->path, strerror(errno));
	o->part[0] = '\0';
	return CMD_OK;
}

void outfile_close(struct outfile *o)
{
	if (o->part[0])
		unlink(o->part);
	if (o->fd > 2)
		close(o->fd);
	*o = (struct outfile){ 0 };
}

int outfile_write(const char *path, const struct buf *b)
{
	struct outfile o;
	int status = outfile_open(&o, path);

	if (status == CMD_OK)
		status = put_all(&o, b);
	if (status == CMD_OK)
		status = outfile_finish(&o);
	outfile_close(&o);
	return status;
}
