/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/daemon/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_init(struct notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET"), *usec = getenv("WATCHDOG_USEC"),
		   *pid = getenv("WATCHDOG_PID");
	uint64_t us = 0, who = 0;

	*n = (struct notify){ .path = "" };
	if (path && (path[0] == '/' || path[0] == '@') && !str_copy(n->path, sizeof(n->path), path))
		n->path[0] = 0;
	if (usec && !str_to_u64(usec, 1, UINT64_C(1) << 40, &us) &&
	    (!pid || (!str_to_u64(pid, 1, INT32_MAX, &who) && (pid_t)who == getpid())))
		n->watchdog = (nsec_t)us * NSEC_PER_USEC;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify_send(const struct notify *n, const char *text)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(n->path);
	int fd;

	if (!len)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	memcpy(to.sun_path, n->path, len);
	if (to.sun_path[0] == '@')
		to.sun_path[0] = 0;
	/* A failure is ignored: nothing depends on the message. */
	(void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&to,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
}
