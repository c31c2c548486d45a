/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a file that the user of the lm has allowed to be read. */
#include "lm/host/host_linux_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_part(int fd, const struct host_file *f, struct buf *out, struct err *e)
{
	size_t left = f->max;

	while (left) {
		ssize_t n;

		if (buf_reserve(out, left))
			return err_nomem(e);
		n = pread(fd, out->p + out->n, left, (off_t)(f->offset + (f->max - left)));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "%.80s", f->path);
		if (n == 0)
			break;
		out->n += (size_t)n;
		left -= (size_t)n;
	}
	return 0;
}

/* Opening a FIFO or a device could block, or have effects. */
int linux_file(struct host *host, const struct host_file *f, struct buf *out, struct err *e)
{
	struct host_linux *h = (struct host_linux *)host;
	struct stat st;
	int fd, rc;

	if (f->path[0] != '/')
		return err_set(e, ERR_INVALID, "no absolute path");
	fd = openat(h->root, f->path + 1,
		    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ELOOP)
		return err_set(e, ERR_DENIED, "%.80s is a link", f->path);
	if (fd < 0)
		return err_sys(e, "%.80s", f->path);
	if (fstat(fd, &st) < 0)
		rc = err_sys(e, "%.80s", f->path);
	else if (!S_ISREG(st.st_mode))
		rc = err_set(e, ERR_DENIED, "%.80s is not a file with text", f->path);
	else
		rc = read_part(fd, f, out, e);
	close(fd);
	return rc;
}
