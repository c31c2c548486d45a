/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/outfile.h"

#include "tools/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int outfile_open(struct outfile *o, const char *path)
{
	*o = (struct outfile){ .fd = 1, .path = path };
	if (!path)
		return CMD_OK;
	if (snprintf(o->part, sizeof(o->part), "%s.part-%ld", path, (long)getpid()) >= (int)sizeof(o->part)) {
		o->part[0] = '\0';
		return cmd_fail(CMD_USAGE, "the name of the output is too long");
	}
	o->fd = open(o->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (o->fd >= 0)
		return CMD_OK;
	o->part[0] = '\0';
	return cmd_fail(CMD_FAILURE, "%s: %s", path, strerror(errno));
}

int outfile_put(struct outfile *o, struct buf *b, size_t least)
{
	size_t at = 0;

	if (b->failed)
		return cmd_fail(CMD_FAILURE, "out of memory");
	if (b->n < least)
		return CMD_OK;
	while (at < b->n) {
		ssize_t n = write(o->fd, b->p + at, b->n - at);

		if (n < 0 && errno != EINTR)
			return cmd_fail(CMD_FAILURE, "%s: %s", o->path ? o->path : "standard output", strerror(errno));
		at += n > 0 ? (size_t)n : 0;
	}
	buf_clear(b);
	return CMD_OK;
}

int outfile_finish(struct outfile *o)
{
	if (!o->part[0])
		return CMD_OK;
	if (rename(o->part, o->path))
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
