/* SPDX-License-Identifier: Apache-2.0 */
/* The socket of an lm, made by the lm itself or by the process that starts it. */
#include "common/ring/seg.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The umask belongs to the program and stays: the mode is set before the socket listens. */
static int bind_private(int fd, const struct sockaddr_un *at)
{
	unlink(at->sun_path);
	if (bind(fd, (const struct sockaddr *)at, sizeof(*at)) < 0)
		return -1;
	return chmod(at->sun_path, 0600);
}

int seg_listen(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	int fd, code;

	if (n >= sizeof(at.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(at.sun_path, path, n);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (bind_private(fd, &at) == 0 && listen(fd, SEG_REGISTER_BACKLOG) == 0)
		return fd;
	code = errno;
	close(fd);
	errno = code;
	return -1;
}
