/* SPDX-License-Identifier: Apache-2.0 */
/* The socket of an lm, made by the lm itself or by the process that starts it. */
#include "common/base/str.h"
#include "common/ring/seg.h"
#include "common/ring/seglisten.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define VERSION_PATH_BYTES (sizeof(((struct sockaddr_un *)NULL)->sun_path) + 16)
#define VERSION_BYTES 12 /* digits of 32 bits, a newline and the 0 */

int seg_lm_version_path(char *out, unsigned long size, const char *path)
{
	int n = snprintf(out, size, "%s.segment", path);

	return n > 0 && (unsigned long)n < size ? 0 : -1;
}

/* Another kind of file at that path does not block, and the result is 0. */
uint32_t seg_lm_version(const char *path)
{
	char file[VERSION_PATH_BYTES], text[VERSION_BYTES];
	int64_t version = 0;
	ssize_t n;
	int fd;

	if (seg_lm_version_path(file, sizeof(file), path))
		return 0;
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0 || text[n - 1] != '\n')
		return 0;
	text[n - 1] = 0;
	return str_to_i64(text, 0, UINT32_MAX, &version) ? 0 : (uint32_t)version;
}

void seg_other_version(char *out, unsigned long size, uint32_t lm, uint32_t libomig)
{
	snprintf(out, size,
		 "this host's lm has segment version %u, libomig has %u: `omig stop`, then start "
		 "again, or restart the service of the lm",
		 lm, libomig);
}

static void forget_version(const char *path)
{
	char file[VERSION_PATH_BYTES];

	if (!seg_lm_version_path(file, sizeof(file), path))
		unlink(file);
}

/* Does not change the program's umask: sets the mode before the socket listens. */
static int bind_private(int fd, const struct sockaddr_un *at)
{
	forget_version(at->sun_path);
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
