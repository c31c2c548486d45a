/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one block per datagram. The receiver detects lost datagrams by the numbers of blocks. */
#include "common/base/limits.h"
#include "eventlog/send/evsend_internal.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

static short wants(const struct evsend *s)
{
	return s->sent != atomic_load(&s->ring.head) ? POLLOUT : 0;
}

/*
 * Returns false if the socket has no room now. A datagram to an unreachable receiver is lost, as in
 * any network.
 */
static bool send_one(struct evsend *s)
{
	uint32_t events, bytes = sendring_block(&s->ring, s->sent, &events);
	struct iovec v[2];
	struct msghdr m = { .msg_iov = v };

	m.msg_iovlen = (size_t)sendring_bytes(&s->ring, s->sent, s->sent + bytes, v);
	if (bytes <= EVSEND_DATAGRAM_MAX_BYTES &&
	    sendmsg(s->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	    (errno == EAGAIN || errno == ENOBUFS || errno == EINTR))
		return false;
	s->sent += bytes;
	atomic_store_explicit(&s->ring.tail, s->sent, memory_order_release);
	return true;
}

static void turn(struct evsend *s, short ready)
{
	(void)ready;
	if (s->fd < 0 && clock_mono() >= s->retry_at) {
		s->fd = evsend_socket(s, SOCK_DGRAM);
		if (s->fd < 0)
			evsend_drop(s);
	}
	while (s->fd >= 0 && s->sent != atomic_load(&s->ring.head) && send_one(s))
		;
}

const struct evsend_way evsend_udp = { EVSEND_DATAGRAM_BYTES, wants, turn };
