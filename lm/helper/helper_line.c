/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/helper/helper_line.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void wait_for(short what)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = what };

	poll(&p, 1, -1);
}

size_t helper_line_next(uint8_t *to, size_t max)
{
	ssize_t n;

	for (;;) {
		wait_for(POLLIN);
		n = recv(STDIN_FILENO, to, max, MSG_DONTWAIT | MSG_TRUNC);
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return n > 0 && (size_t)n <= max ? (size_t)n : 0;
	}
}

void helper_line_answer(void *arg, const struct tracer_msg *m)
{
	struct buf b = BUF_INIT(TRACER_MSG_MAX_BYTES);

	if (tracer_msg_encode(&b, m))
		exit(1);
	while (send(STDIN_FILENO, b.p, b.n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
			exit(1);
		wait_for(POLLOUT);
	}
	buf_done(&b);
}

int helper_line_open(struct err *e)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(e, "prctl");
	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 ||
	    peer.uid != getuid())
		return err_set(e, ERR_INVALID,
			       "lm starts this program when it needs it; see lm(8)");
	return 0;
}
