/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lm-look: started by an lm, with the socket to it as standard input. It handles one request after
 * the other; the lm kills it if one hangs. It ends with the lm.
 */
#include "common/loop/loop.h"
#include "lm/host/host_linux.h"
#include "lm/helper/look_do.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void wait_for(short what)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = what };

	poll(&p, 1, -1);
}

/* 0: it has ended. */
static size_t next(uint8_t *to, size_t max)
{
	ssize_t n;

	for (;;) {
		wait_for(POLLIN);
		n = recv(STDIN_FILENO, to, max, MSG_DONTWAIT | MSG_TRUNC);
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return n > 0 && (size_t)n <= max ? (size_t)n : 0;
	}
}

static void answer(void *arg, const struct tracer_msg *m)
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

static bool is_for_us(const struct tracer_msg *m)
{
	return m->type >= TRACER_READ_MEMORY && m->type <= TRACER_FILE;
}

/* Ends with the lm, even while this process hangs and does not read. */
static int die_with_lm(struct err *e)
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

int main(void)
{
	static uint8_t in[TRACER_MSG_MAX_BYTES];
	static struct tracer_msg m;
	struct loop *loop = loop_new();
	struct host *host = NULL;
	struct err e = { 0 };
	size_t n;
	int got = die_with_lm(&e);

	if (!got)
		got = loop ? host_linux_open("/", loop, &host, &e) : err_nomem(&e);
	if (got)
		fprintf(stderr, "lm-look: %s\n", e.text);
	while (!got && (n = next(in, sizeof(in))) > 0) {
		got = tracer_msg_decode(&m, in, n, &e);
		if (!got && !is_for_us(&m))
			got = -ERR_PROTO;
		if (!got)
			look_do(host, &m, answer, NULL);
	}
	host_free(host);
	loop_free(loop);
	return got < 0;
}
