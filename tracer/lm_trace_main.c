/* SPDX-License-Identifier: Apache-2.0 */
/* lm-trace: started by an lm, with the line to it as standard input. Ends when the lm does. */
#include "common/loop/loop.h"
#include "tracer/tracer.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_line(int fd)
{
	int type = 0;
	socklen_t n = sizeof(type);
	struct ucred peer;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_SEQPACKET)
		return false;
	n = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == getuid();
}

/* The line must not be what programs that we start read. */
static int take_line(void)
{
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0)
		return -1;
	close(null);
	return fd;
}

int main(void)
{
	struct err e = { 0 };
	struct loop *loop;
	int fd, got;

	if (!is_line(STDIN_FILENO)) {
		fputs("lm-trace: lm starts this program when it needs it; see lm(8)\n", stderr);
		return 2;
	}
	fd = take_line();
	loop = loop_new();
	got = fd >= 0 && loop ? tracer_run(loop, fd, &e) : err_sys(&e, "lm-trace");
	loop_free(loop);
	if (got)
		fprintf(stderr, "lm-trace: %s\n", e.text);
	return got < 0;
}
